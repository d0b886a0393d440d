/* python.exe: python3XY.dll has the interpreter, and PyPI has no program that starts it. */
#include <stdio.h>
#include <windows.h>
int wmain(int count, wchar_t **words) {
  HMODULE library = LoadLibraryA(LIBRARY);
  if (library == NULL) {
    fprintf(stderr, LIBRARY " cannot be loaded: error %lu\n", GetLastError());
    return 1;
  }
  int (*run)(int, wchar_t **) = (int (*)(int, wchar_t **))(void *)GetProcAddress(library, "Py_Main");
  return run(count, words);
}
