import { Problem } from '../kernel/problem.ts';

export function consoleNotBuilt(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The console is not built; "npm run build" builds it.');
}

/** @param path in the folder of the console */
export function consoleChanged(path: string): Problem {
  const message = `The file ${path} of the console is not what was built. Run "npm run build" after deleting packages/console/dist.`;
  return new Problem('SERVICE_UNAVAILABLE', message);
}

export function pageNotFound(): Problem {
  return new Problem('OBJECT_NOT_FOUND', 'There is nothing at this path.');
}
