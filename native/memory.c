/* Fresh memory is dear: every page of it is cleared by the system at the first touch. What a call needs is therefore
   kept, on large pages where the system has them; a second call at the same time gets memory of its own. */
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
    pthread_mutex_t lock; /* held while the workspace is lent */
    _Atomic(float *) memory; /* whoever gives back looks at it without the lock */
    size_t size;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void after_fork(void) { /* whoever had borrowed it is not in this process */
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    kept.lock = mutex;
}

static float *allocate(size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, LARGE_PAGE, size) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, size, MADV_HUGEPAGE); /* advice: where it is not taken, pages are small */
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
        kept.size = 0; /* whoever is forked here finds none, and takes its own */
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
