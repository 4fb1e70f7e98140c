"""A toy policy in the standard library: everything the protocol does, without a GPU or a package."""
