/* Tasks run on the threads of torch's OpenMP runtime if it is GNU's: other threads would compete for the cores with
   torch's threads, which spin for a while after each operation. Without GNU's OpenMP, tasks run on a pool of our own.
   In both cases a free thread takes the next task.

   On Linux the workers avoid the core of the calling thread: when another process keeps a core busy, the scheduler
   tends to put our threads together on the other core, and then two threads are no faster than one. */
#define _GNU_SOURCE
#include "pool.h"

#include <dlfcn.h>
#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { MOST_THREADS = 256 };

typedef struct {
    task_function *task;
    void *context;
    long count;
    atomic_long next;    /* the next task to take */
    atomic_long workers; /* threads that have joined the job */
    pthread_t caller;
#ifdef __linux__
    int core;       /* the caller's */
    cpu_set_t cores; /* the cores that the caller may use */
#endif
} job_t;

static void describe_caller(job_t *job) {
    job->caller = pthread_self();
#ifdef __linux__
    job->core = sched_getcpu();
    if (sched_getaffinity(0, sizeof job->cores, &job->cores) != 0 || CPU_COUNT(&job->cores) < 2) job->core = -1;
#endif
}

static void keep_off_the_caller(const job_t *job) {
#ifdef __linux__
    static _Thread_local int kept_off = -1;
    if (job->core < 0 || job->core == kept_off || pthread_equal(pthread_self(), job->caller)) return;
    cpu_set_t others = job->cores;
    CPU_CLR(job->core, &others);
    if (sched_setaffinity(0, sizeof others, &others) == 0) kept_off = job->core;
#else
    (void)job;
#endif
}

static void take_tasks(job_t *job) {
    long worker = atomic_fetch_add(&job->workers, 1);
    for (long i; (i = atomic_fetch_add(&job->next, 1)) < job->count;) job->task(job->context, i, worker);
}

static void work_on(void *context) {
    keep_off_the_caller(context);
    take_tasks(context);
}

/* ---- torch's threads ---- */

typedef void parallel_function(void (*)(void *), void *, unsigned threads, unsigned flags);

static parallel_function *openmp(void) {
    static _Atomic(parallel_function *) found;
    parallel_function *parallel = atomic_load(&found);
    if (!parallel) { /* torch may be imported after the first call */
        parallel = (parallel_function *)dlsym(RTLD_DEFAULT, "GOMP_parallel");
        atomic_store(&found, parallel);
    }
    return parallel;
}

/* ---- our own pool ---- */

/* The pool runs one job at a time; a second caller runs its tasks alone, so that no caller waits for a lock. */
static struct {
    pthread_mutex_t owner; /* held by the caller whose job this is */
    pthread_mutex_t lock;  /* guards what follows */
    pthread_cond_t wake, done;
    job_t *job;
    long wanted; /* workers that the job still needs */
    long active; /* workers that run the job */
    long hired;
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void *wait_for_work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.wanted == 0) pthread_cond_wait(&pool.wake, &pool.lock);
        pool.wanted--;
        pool.active++;
        job_t *job = pool.job;
        pthread_mutex_unlock(&pool.lock);
        work_on(job);
        pthread_mutex_lock(&pool.lock);
        if (--pool.active == 0) pthread_cond_signal(&pool.done);
    }
    return NULL;
}

/* A child process has none of its parent's threads: it starts with an empty pool. */
static void after_fork(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pool.owner = pool.lock = mutex;
    pool.wake = pool.done = condition;
    pool.wanted = pool.active = pool.hired = 0;
}

static void hire(long workers) {
    static bool prepared;
    if (!prepared) prepared = pthread_atfork(NULL, NULL, after_fork) == 0;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    while (pool.hired < workers && pthread_create(&thread, &detached, wait_for_work, NULL) == 0) pool.hired++;
    pthread_attr_destroy(&detached);
}

static void run_on_pool(job_t *job, long threads) {
    if (pthread_mutex_trylock(&pool.owner) != 0) {
        take_tasks(job);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    hire(threads - 1);
    pool.job = job;
    pool.wanted = threads - 1;
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);

    take_tasks(job);

    pthread_mutex_lock(&pool.lock);
    pool.wanted = 0; /* all tasks are taken: no more workers are needed */
    while (pool.active > 0) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.owner);
}

void pool_run(task_function *task, void *context, long count, long threads) {
    job_t job = {.task = task, .context = context, .count = count};
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    if (threads > count) threads = count;
    if (threads < 2) {
        take_tasks(&job);
        return;
    }
    describe_caller(&job);
    if (openmp()) {
        openmp()(work_on, &job, (unsigned)threads, 0);
    } else {
        run_on_pool(&job, threads);
    }
}
