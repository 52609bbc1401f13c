"""What all neural parts share: sparse products, the trainer with early stopping, the classifier's frame."""

from twinwl.errors import import_extra

# Said once, here: every module of this layer then imports torch as it is.
import_extra("torch", "neural")
