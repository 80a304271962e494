/** The maximum number of messages in one batch. Only revision 2025-03-26 has batches, and its clients send a few messages. */
export const maxBatch = 10;

/** The number of response bytes after which no further request of a batch runs. One response can have about 3 MiB. */
export const maxBatchAnswerBytes = 10 * 1024 * 1024;
