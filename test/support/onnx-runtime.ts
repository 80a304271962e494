import { installRuntime } from '../../packages/server/src/stores/search/embedding/onnx/install-runtime.ts';

/** Installs what `npm run add-onnx` installs, once per clone, because the tests use the real runtime. */
export const installOnnxRuntime = (): Promise<void> => installRuntime(() => {}, { environment: process.env });
