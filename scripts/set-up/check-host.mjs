// Checks the Node.js of the host, which runs npm and this set-up. The set-up then installs the one that runs the service.
import { refuse } from './refuse.mjs';

/** The oldest major version that the set-up is tested with. README.md names it. */
const required = 20;

/** Ends the set-up when the Node.js of the host is too old. */
export function checkHost() {
  if (Number(process.versions.node.split('.')[0]) >= required) return;
  refuse(
    `npm needs Node.js ${required} or later to install Quartermaster; this is ${process.versions.node}. Install a newer Node.js (https://nodejs.org), then run the same command again.`,
  );
}
