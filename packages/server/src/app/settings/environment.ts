/** The input of `parseConfig`, in the shape of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process. Nothing else reads it. */
export function processEnvironment(): Environment {
  return process.env;
}
