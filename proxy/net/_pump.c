/* The relay of plain chunks between two sockets, on a thread of its own: see `proxy/net/_pump.pyi`.
 *
 * A flow is a client's and a server's socket while both belong to the thread. A chunk that `scan.h` lets pass goes
 * out at once on the other socket, and only the account of it is kept. At the first chunk that has to be looked at,
 * at the end of a socket and at an error the flow goes back to its owner with that chunk and the account, and the
 * event loop hears of it. What a slow reader does not take yet waits here, and its source is not read.
 *
 * The thread never touches a Python object. It holds `lock` for one event at a time; whoever holds the GIL takes
 * `lock` after it and never waits for the GIL with it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../protocol/scan.h"

enum { CLIENT = 0, SERVER = 1, NOBODY = -1, CHUNK = 1 << 18, EVENTS = 64, MOST_PENDING = 32, NO_SOCKET = -1 };
enum { BULK = 8192, PAUSE_NS = 100000 };

typedef struct Pump Pump;
typedef struct Flow Flow;

typedef struct {
    Flow *flow;
    int fd;
    uint32_t watched; /* what epoll reports, 0 where it does not know the socket */
    char *out;        /* accepted, not written yet: out[at..len) */
    size_t at, len;
    unsigned long long received;
} Side;

struct Flow {
    PyObject_HEAD
    Pump *pump;          /* NULL once taken back */
    PyObject *owner;
    Side sides[2];
    Flow *next;          /* in the queue of those that have ended */
    int from;            /* whose chunk ended it, or nobody's */
    char *chunk;
    ssize_t size;
    int64_t rest;        /* bytes of the server's last message that are still to come */
    uint8_t held[READY_SIZE]; /* the start of its next one, too short to judge; not forwarded yet */
    int held_size;
    unsigned long long cycles, transactions; /* ReadyForQuery, those outside of a transaction; since `account` */
    int status;          /* of the last of them */
    int pending;         /* boundaries that the server has not answered */
    uint32_t is_query;   /* of those, oldest in bit 0: Query or else Sync */
};

struct Pump {
    PyObject_HEAD
    PyTypeObject *flow_type;
    scan_tables tables;
    int epoll, bell, end; /* `bell` tells the event loop of flows that have ended, `end` tells the thread to stop */
    int running;
    int bulk;            /* whether a full buffer of PostgreSQL's came since the last wait */
    pthread_t thread;
    pthread_mutex_t lock;
    atomic_int waiting;   /* who wants `lock` apart from the thread */
    Side **by_fd;         /* a stale event finds nothing, or a newer flow, for which it is merely early */
    int known;
    Flow *first, *last;
    uint8_t chunk[CHUNK];
};

/* -- the thread's half: `lock` is held */

static int watch(Side *side)
{
    Flow *flow = side->flow;
    uint32_t wanted = (flow->sides[side == &flow->sides[CLIENT]].len ? 0 : EPOLLIN) | (side->len ? EPOLLOUT : 0);
    if (wanted == side->watched)
        return 0;
    struct epoll_event event = {.events = wanted, .data.fd = side->fd};
    int change = !side->watched ? EPOLL_CTL_ADD : wanted ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    side->watched = wanted;
    return epoll_ctl(flow->pump->epoll, change, side->fd, &event);
}

static int watch_both(Flow *flow)
{
    return watch(&flow->sides[CLIENT]) | watch(&flow->sides[SERVER]);
}

static void forget(Flow *flow)
{
    for (int i = 0; i < 2; i++) {
        Side *side = &flow->sides[i];
        if (side->watched)
            epoll_ctl(flow->pump->epoll, EPOLL_CTL_DEL, side->fd, NULL);
        side->watched = 0;
        flow->pump->by_fd[side->fd] = NULL;
    }
}

static void end_flow(Flow *flow, int from, const uint8_t *data, ssize_t size)
{
    Pump *pump = flow->pump;
    forget(flow);
    if (from != NOBODY) {
        flow->chunk = malloc((size_t)size);
        if (flow->chunk != NULL)
            memcpy(flow->chunk, data, (size_t)size);
        flow->size = size;
    }
    flow->from = from;
    flow->next = NULL;
    if (pump->first == NULL)
        pump->first = flow;
    else
        pump->last->next = flow;
    pump->last = flow;
    eventfd_write(pump->bell, 1);
}

static ssize_t put(Side *side, const void *data, size_t size)
{
    ssize_t sent = send(side->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : sent;
}

static void forward(Flow *flow, int to, const uint8_t *data, ssize_t size)
{
    Side *side = &flow->sides[to];
    ssize_t sent = side->len ? 0 : put(side, data, (size_t)size);
    if (sent == size)
        return;
    char *out = sent < 0 ? NULL : realloc(side->out, side->len + (size_t)(size - sent));
    if (out != NULL) {
        side->out = out;
        memcpy(out + side->len, data + sent, (size_t)(size - sent));
        side->len += (size_t)(size - sent);
    }
    if (out == NULL || watch_both(flow) < 0)
        end_flow(flow, NOBODY, NULL, 0);
}

static void writable(Side *side)
{
    ssize_t sent = put(side, side->out + side->at, side->len - side->at);
    if (sent > 0)
        side->at += (size_t)sent;
    if (side->at == side->len) {
        free(side->out);
        side->out = NULL;
        side->at = side->len = 0;
    }
    if (sent < 0 || watch_both(side->flow) < 0)
        end_flow(side->flow, NOBODY, NULL, 0);
}

static int enter_frontend(Flow *flow, const uint8_t *data, ssize_t size)
{
    int boundary = scan_frontend(data, size, &flow->pump->tables);
    if (!boundary || flow->pending == MOST_PENDING)
        return 0;
    flow->is_query |= (uint32_t)(boundary == 'Q') << flow->pending++;
    return 1;
}

/* Holds the last message of a chunk back until more of it comes, if nothing else in the chunk needs a look and too
 * little of it is there for one. */
static int hold(Flow *flow, const uint8_t *data, ssize_t *size)
{
    int64_t left = *size - scan_hop(data, *size, flow->rest, flow->pump->tables.backend);
    if (left > HEADER_SIZE || (left == HEADER_SIZE && data[*size - left] != 'Z'))
        return 0;
    *size -= left;
    memcpy(flow->held, data + *size, (size_t)left);
    flow->held_size = (int)left;
    flow->rest = 0;
    return 1;
}

/* Whether the chunk passes, but for what it ends with: `size` becomes less by what is held back. */
static int enter_backend(Flow *flow, const uint8_t *data, ssize_t *size)
{
    int64_t meaning = scan_backend(data, *size, flow->rest, &flow->pump->tables);
    int status = meaning & 0xFF;
    flow->held_size = 0;
    if (meaning == NEEDS_INSPECTION)
        return hold(flow, data, size);
    if (status && !flow->pending)
        return 0;
    flow->rest = meaning >> 8;
    if (status) {
        flow->status = status;
        flow->cycles++;
        flow->transactions += status == 'I';
        flow->pending--;
        flow->is_query >>= 1;
    }
    return 1;
}

static void readable(Pump *pump, Side *side)
{
    Flow *flow = side->flow;
    int from = side == &flow->sides[SERVER], before = from == SERVER ? flow->held_size : 0;
    ssize_t size = recv(side->fd, pump->chunk + before, CHUNK - (size_t)before, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        end_flow(flow, NOBODY, NULL, 0);
        return;
    }
    side->received += (unsigned long long)size;
    pump->bulk |= size >= BULK;
    memcpy(pump->chunk, flow->held, (size_t)before);
    size += before;
    if (from == CLIENT ? enter_frontend(flow, pump->chunk, size) : enter_backend(flow, pump->chunk, &size))
        forward(flow, !from, pump->chunk, size);
    else
        end_flow(flow, from, pump->chunk, size);
}

static void happened(Pump *pump, int fd, uint32_t events)
{
    Side *side = fd < pump->known ? pump->by_fd[fd] : NULL;
    if (side != NULL && side->len && events & EPOLLOUT)
        writable(side);
    if (side == NULL || pump->by_fd[fd] != side)
        return;
    if (side->watched & EPOLLIN && events & ~(uint32_t)EPOLLOUT)
        readable(pump, side);
    else if (events & (EPOLLERR | EPOLLHUP))
        end_flow(side->flow, NOBODY, NULL, 0);
}

static void *run(void *argument)
{
    Pump *pump = argument;
    struct epoll_event events[EVENTS];
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (;;) {
        if (pump->bulk)
            nanosleep(&pause, NULL);
        pump->bulk = 0;
        int count = epoll_wait(pump->epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == pump->end)
                return NULL;
            while (atomic_load_explicit(&pump->waiting, memory_order_relaxed))
                sched_yield();
            pthread_mutex_lock(&pump->lock);
            happened(pump, events[i].data.fd, events[i].events);
            pthread_mutex_unlock(&pump->lock);
        }
    }
}

/* -- Python's half */

static void enter(Pump *pump)
{
    atomic_fetch_add(&pump->waiting, 1);
    pthread_mutex_lock(&pump->lock);
    atomic_fetch_sub(&pump->waiting, 1);
}

static PyObject *account(Flow *flow)
{
    char kinds[MOST_PENDING];
    for (int i = 0; i < flow->pending; i++)
        kinds[i] = flow->is_query >> i & 1 ? 'Q' : 'S';
    PyObject *made = Py_BuildValue(
        "(KKiy#LKK)", flow->cycles, flow->transactions, flow->status, kinds, (Py_ssize_t)flow->pending,
        (long long)flow->rest, flow->sides[CLIENT].received, flow->sides[SERVER].received);
    flow->cycles = flow->transactions = flow->sides[CLIENT].received = flow->sides[SERVER].received = 0;
    return made;
}

static PyObject *Flow_account(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Flow *flow = (Flow *)self;
    Pump *pump = flow->pump;
    if (pump == NULL)
        return account(flow);
    enter(pump);
    PyObject *made = account(flow);
    pthread_mutex_unlock(&pump->lock);
    return made;
}

static PyObject *unsent(Side *side)
{
    return PyBytes_FromStringAndSize(side->out == NULL ? "" : side->out + side->at, (Py_ssize_t)(side->len - side->at));
}

static void dequeue(Pump *pump, Flow *flow)
{
    Flow *before = NULL;
    for (Flow *at = pump->first; at != NULL; before = at, at = at->next) {
        if (at != flow)
            continue;
        *(before == NULL ? &pump->first : &before->next) = at->next;
        if (pump->last == at)
            pump->last = before;
        return;
    }
}

static PyObject *Flow_take(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Flow *flow = (Flow *)self;
    Pump *pump = flow->pump;
    if (pump == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the flow has been taken back already");
        return NULL;
    }
    enter(pump);
    if (pump->by_fd[flow->sides[CLIENT].fd] == &flow->sides[CLIENT])
        forget(flow);
    else
        dequeue(pump, flow);
    pthread_mutex_unlock(&pump->lock);
    flow->pump = NULL;
    PyObject *made = NULL;
    if (flow->from != NOBODY && flow->chunk == NULL)
        PyErr_NoMemory();
    else
        made = Py_BuildValue(
            "(NNNy#iy#)", account(flow), unsent(&flow->sides[CLIENT]), unsent(&flow->sides[SERVER]), flow->held,
            (Py_ssize_t)flow->held_size, flow->from, flow->chunk,
            (Py_ssize_t)(flow->from == NOBODY ? 0 : flow->size));
    free(flow->chunk);
    free(flow->sides[CLIENT].out);
    free(flow->sides[SERVER].out);
    flow->chunk = flow->sides[CLIENT].out = flow->sides[SERVER].out = NULL;
    Py_CLEAR(flow->owner);
    Py_DECREF(pump);
    Py_DECREF(self); /* the pump's own */
    return made;
}

static void Flow_dealloc(PyObject *self)
{
    /* The pump owns a reference until `take`, so nothing of it is left here. */
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef Flow_methods[] = {
    {"account", Flow_account, METH_NOARGS, NULL},
    {"take", Flow_take, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot Flow_slots[] = {{Py_tp_dealloc, Flow_dealloc}, {Py_tp_methods, Flow_methods}, {0, NULL}};
static PyType_Spec Flow_spec = {
    .name = "proxy.net._pump.Flow",
    .basicsize = sizeof(Flow),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = Flow_slots,
};

static int know(Pump *pump, int fd)
{
    if (fd < pump->known)
        return 1;
    int size = fd < 32 ? 64 : 2 * fd;
    Side **grown = realloc(pump->by_fd, (size_t)size * sizeof *grown);
    if (grown == NULL)
        return 0;
    memset(grown + pump->known, 0, (size_t)(size - pump->known) * sizeof *grown);
    pump->by_fd = grown;
    pump->known = size;
    return 1;
}

static PyObject *Pump_attach(PyObject *self, PyObject *args)
{
    Pump *pump = (Pump *)self;
    PyObject *owner;
    int fds[2], good;
    long long rest;
    const char *owed;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "OiiLy#", &owner, &fds[CLIENT], &fds[SERVER], &rest, &owed, &count))
        return NULL;
    if (rest < 0 || count > MOST_PENDING) {
        PyErr_SetString(PyExc_ValueError, "more is owed than a flow can keep");
        return NULL;
    }
    if (fds[CLIENT] < 0 || fds[SERVER] < 0) {
        PyErr_SetString(PyExc_ValueError, "a descriptor is not negative");
        return NULL;
    }
    Flow *flow = (Flow *)PyType_GenericAlloc(pump->flow_type, 0);
    if (flow == NULL)
        return NULL;
    flow->pump = pump;
    flow->from = NOBODY;
    flow->rest = rest;
    flow->pending = (int)count;
    for (Py_ssize_t i = 0; i < count; i++)
        flow->is_query |= (uint32_t)(owed[i] == 'Q') << i;
    enter(pump);
    good = know(pump, fds[CLIENT]) && know(pump, fds[SERVER]);
    for (int i = 0; good && i < 2; i++) {
        flow->sides[i] = (Side){.flow = flow, .fd = fds[i]};
        pump->by_fd[fds[i]] = &flow->sides[i];
    }
    if (good && watch_both(flow) < 0) {
        good = 0;
        forget(flow);
    }
    pthread_mutex_unlock(&pump->lock);
    if (!good) {
        Py_DECREF(flow);
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    flow->owner = Py_NewRef(owner);
    Py_INCREF((PyObject *)pump);
    return Py_NewRef((PyObject *)flow); /* one for the pump, one for the caller */
}

static PyObject *Pump_ended(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Pump *pump = (Pump *)self;
    eventfd_t rung;
    PyObject *owners = PyList_New(0);
    if (owners == NULL)
        return NULL;
    enter(pump);
    eventfd_read(pump->bell, &rung);
    Flow *flow = pump->first;
    pump->first = pump->last = NULL;
    pthread_mutex_unlock(&pump->lock);
    for (; flow != NULL; flow = flow->next)
        if (PyList_Append(owners, flow->owner) < 0) {
            Py_DECREF(owners);
            return NULL;
        }
    return owners;
}

static PyObject *Pump_fileno(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return PyLong_FromLong(((Pump *)self)->bell);
}

static PyObject *Pump_stop(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Pump *pump = (Pump *)self;
    if (pump->running) {
        pump->running = 0;
        eventfd_write(pump->end, 1);
        Py_BEGIN_ALLOW_THREADS
        pthread_join(pump->thread, NULL);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static int start(Pump *pump)
{
    sigset_t all, before;
    struct epoll_event event = {.events = EPOLLIN};
    pump->epoll = epoll_create1(EPOLL_CLOEXEC);
    pump->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pump->end = event.data.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pump->epoll < 0 || pump->bell < 0 || epoll_ctl(pump->epoll, EPOLL_CTL_ADD, pump->end, &event) < 0)
        return errno;
    /* Signals are Python's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&pump->thread, NULL, run, pump);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pump->running = !problem;
    return problem;
}

static int Pump_init(PyObject *self, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    Pump *pump = (Pump *)self;
    Py_buffer given[3];
    uint32_t *into[3] = {pump->tables.no_text, pump->tables.to_sync, pump->tables.backend};
    int good = 1;
    pump->epoll = pump->bell = pump->end = NO_SOCKET;
    pthread_mutex_init(&pump->lock, NULL);
    if (!PyArg_ParseTuple(args, "y*y*y*", &given[0], &given[1], &given[2]))
        return -1;
    for (int i = 0; i < 3; i++) {
        good = good && given[i].len == sizeof(scan_table);
        if (good)
            memcpy(into[i], given[i].buf, sizeof(scan_table));
        PyBuffer_Release(&given[i]);
    }
    if (!good) {
        PyErr_SetString(PyExc_ValueError, "a table has 256 entries of 4 bytes");
        return -1;
    }
    pump->flow_type = (PyTypeObject *)PyType_FromSpec(&Flow_spec);
    if (pump->flow_type == NULL)
        return -1;
    errno = start(pump);
    if (errno) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    return 0;
}

static void Pump_dealloc(PyObject *self)
{
    Pump *pump = (Pump *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(Pump_stop(self, NULL));
    int descriptors[3] = {pump->epoll, pump->bell, pump->end};
    for (int i = 0; i < 3; i++)
        if (descriptors[i] != NO_SOCKET)
            close(descriptors[i]);
    free(pump->by_fd);
    pthread_mutex_destroy(&pump->lock);
    Py_XDECREF((PyObject *)pump->flow_type);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef Pump_methods[] = {
    {"attach", Pump_attach, METH_VARARGS, NULL},
    {"ended", Pump_ended, METH_NOARGS, NULL},
    {"fileno", Pump_fileno, METH_NOARGS, NULL},
    {"stop", Pump_stop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot Pump_slots[] = {
    {Py_tp_init, Pump_init}, {Py_tp_dealloc, Pump_dealloc}, {Py_tp_methods, Pump_methods}, {0, NULL}};
static PyType_Spec Pump_spec = {
    .name = "proxy.net._pump.Pump",
    .basicsize = sizeof(Pump),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = Pump_slots,
};

static int load(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&Pump_spec);
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "Pump", type);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, load}, {0, NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_pump", .m_size = 0, .m_slots = slots};

PyMODINIT_FUNC PyInit__pump(void)
{
    return PyModuleDef_Init(&definition);
}
