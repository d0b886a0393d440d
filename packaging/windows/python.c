/* python.exe: runs the interpreter of python311.dll. */
#include <stdio.h>
#include <windows.h>

int wmain(int count, wchar_t **words) {
    HMODULE library = LoadLibraryW(L"python311.dll");
    int (*run)(int, wchar_t **) = library ? (void *)GetProcAddress(library, "Py_Main") : NULL;
    if (!run) {
        fprintf(stderr, "python311.dll: error %lu\n", GetLastError());
        return 99;
    }
    return run(count, words);
}
