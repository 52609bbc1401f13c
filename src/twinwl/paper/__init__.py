"""What only the reproduction of the paper needs: its tables, reported figures, runs and figures."""
