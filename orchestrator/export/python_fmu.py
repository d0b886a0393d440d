"""x"""
def write_python_fmu(*a, **k):
    raise NotImplementedError
