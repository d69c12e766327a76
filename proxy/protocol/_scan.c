/* `scan.h` for Python: see `proxy/protocol/_scan.pyi`. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "scan.h"

static int table_of(Py_buffer *view, const uint32_t **table)
{
    *table = view->buf;
    if (view->len == sizeof(scan_table))
        return 1;
    PyErr_SetString(PyExc_ValueError, "a table has 256 entries of 4 bytes");
    return 0;
}

static PyObject *hop(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer data, table;
    long long pos;
    const uint32_t *entries;
    PyObject *found = NULL;
    if (!PyArg_ParseTuple(args, "y*Ly*", &data, &pos, &table))
        return NULL;
    if (pos < 0)
        PyErr_SetString(PyExc_ValueError, "a boundary is not negative");
    else if (table_of(&table, &entries))
        found = PyLong_FromLongLong(scan_hop(data.buf, data.len, pos, entries));
    PyBuffer_Release(&data);
    PyBuffer_Release(&table);
    return found;
}

typedef struct {
    PyObject_HEAD
    scan_tables tables;
} Scanner;

static int Scanner_init(PyObject *self, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    Py_buffer given[3];
    scan_tables *tables = &((Scanner *)self)->tables;
    uint32_t *into[3] = {tables->no_text, tables->to_sync, tables->backend};
    int good = 1;
    if (!PyArg_ParseTuple(args, "y*y*y*", &given[0], &given[1], &given[2]))
        return -1;
    for (int i = 0; i < 3; i++) {
        const uint32_t *entries;
        good = good && table_of(&given[i], &entries);
        if (good)
            memcpy(into[i], entries, sizeof(scan_table));
        PyBuffer_Release(&given[i]);
    }
    return good ? 0 : -1;
}

static PyObject *Scanner_frontend(PyObject *self, PyObject *data)
{
    Py_buffer view;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    int found = scan_frontend(view.buf, view.len, &((Scanner *)self)->tables);
    PyBuffer_Release(&view);
    return PyLong_FromLong(found);
}

static PyObject *Scanner_backend(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer view;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "backend() takes data and rest");
        return NULL;
    }
    long long rest = PyLong_AsLongLong(args[1]);
    if (rest < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "the rest is not negative");
        return NULL;
    }
    if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0)
        return NULL;
    int64_t found = scan_backend(view.buf, view.len, rest, &((Scanner *)self)->tables);
    PyBuffer_Release(&view);
    return PyLong_FromLongLong(found);
}

static PyMethodDef Scanner_methods[] = {
    {"frontend", Scanner_frontend, METH_O, NULL},
    {"backend", (PyCFunction)(void (*)(void))Scanner_backend, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot Scanner_slots[] = {
    {Py_tp_init, Scanner_init},
    {Py_tp_methods, Scanner_methods},
    {0, NULL},
};

static PyType_Spec Scanner_spec = {
    .name = "proxy.protocol._scan.Scanner",
    .basicsize = sizeof(Scanner),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = Scanner_slots,
};

static int load(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&Scanner_spec);
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "Scanner", type);
}

static PyMethodDef functions[] = {{"hop", hop, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{Py_mod_exec, load}, {0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_scan", .m_size = 0, .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__scan(void)
{
    return PyModuleDef_Init(&definition);
}
