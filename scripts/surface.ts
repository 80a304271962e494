// `npm run script -- surface` compares metrics and tables with their pins in test/surface and exits with 1 on a difference.
// `npm run script -- surface --write` updates the pins.
import { comparePin, pinNames, writePin } from './surface/pins.ts';
import { readSurface } from './surface/services.ts';

const unknown = process.argv.slice(2).find((argument) => argument !== '--write');
if (unknown !== undefined) {
  console.error(`npm run script -- surface: there is no option ${unknown}; --write updates the pins.`);
  process.exit(64);
}
const surface = await readSurface();
for (const name of pinNames) {
  const difference = comparePin(name, surface[name]);
  if (difference === undefined) continue;
  console.log(difference);
  if (process.argv.includes('--write')) writePin(name, surface[name]);
  else process.exitCode = 1;
}
