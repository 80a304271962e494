/** Ends the set-up with one sentence for the user. */
export function refuse(message) {
  console.error(`quartermaster: ${message}`);
  process.exit(1);
}
