"""The layers of the native library on numpy arrays, and in numpy alone where the library was not built."""
