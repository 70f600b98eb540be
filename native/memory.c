/* The system clears every page of new memory at the first access, which is slow. The workspace of a call is therefore
   kept for the next one, on large pages if the system has them. A concurrent call allocates its own memory. */
#define _GNU_SOURCE
#include "memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { LARGE_PAGE = 1 << 21 };

static struct {
    pthread_mutex_t lock; /* held while a call uses the workspace */
    _Atomic(float *) memory; /* read without the lock by workspace_give_back */
    size_t size;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void after_fork(void) { /* the thread that held the lock does not exist in the child */
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    kept.lock = mutex;
}

static float *allocate(size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, LARGE_PAGE, size) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, size, MADV_HUGEPAGE); /* only a hint: pages may stay small */
#endif
    return memory;
}

float *workspace_take(int64_t count) {
    const size_t size = ((size_t)count * sizeof(float) + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    if (pthread_mutex_trylock(&kept.lock) != 0) return allocate(size);
    static bool prepared;
    if (!prepared) prepared = pthread_atfork(NULL, NULL, after_fork) == 0;
    if (kept.size < size) {
        float *old = atomic_exchange(&kept.memory, NULL);
        kept.size = 0; /* a child that is forked now allocates its own */
        free(old);
        kept.memory = allocate(size);
        kept.size = kept.memory ? size : 0;
    }
    float *memory = kept.memory;
    if (!memory) pthread_mutex_unlock(&kept.lock);
    return memory;
}

void workspace_give_back(float *workspace) {
    if (workspace == kept.memory) {
        pthread_mutex_unlock(&kept.lock);
    } else {
        free(workspace);
    }
}
