const { PATH = '', NODE_COMPILE_CACHE } = process.env;

/**
 * The environment that the tests give a command besides its settings. The shared compile cache halves its start-up
 * time.
 */
export const commandEnvironment: Readonly<Record<string, string>> = {
  PATH,
  ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
};
