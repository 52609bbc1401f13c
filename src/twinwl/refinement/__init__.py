"""The twin passing: colours and identities, as arrays in and arrays out."""
