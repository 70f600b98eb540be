/* A pool of threads for numbered tasks; a free thread takes the next task. */
#ifndef GAREADER_POOL_H
#define GAREADER_POOL_H

typedef void task_function(void *context, long task, long worker);

/* Run task(context, 0 … count − 1, worker) on up to `threads` threads, the calling one among them, and wait for the
   last. No two threads have the same worker number; all are below `threads`. */
void pool_run(task_function *task, void *context, long count, long threads);

#endif
