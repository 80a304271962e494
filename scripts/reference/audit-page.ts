import { auditActions } from '@quartermaster/contract';

/** Writes the page of the audit log. */
export function describeAudit(): string {
  const rows = Object.entries(auditActions).map(
    ([action, { object, meaning, outcome = 'done' }]) =>
      `| \`${action}\` | \`${object}\` | \`${outcome}\` | ${meaning} |`,
  );
  return `# Audit log

The audit log says who did what and when. This page is generated from the list of actions in the code.

| Action | Kind of object | Outcome | Meaning |
|---|---|---|---|
${rows.join('\n')}

## What an event has

Each event names its time, the actor, the object, the project, the address of the client and the \`request_id\` of the answer. The actor is
an \`account\`, a \`key\`, an \`application\`, a \`command\` on the machine (with the id of its user), the \`service\` itself, or \`unknown\`. The
details are small facts, such as the scopes of a new key. They never contain a secret, a credential, a text of a document or a question,
or the name of a document. The log line of an event has the same name, with \`_\` instead of the full stop.

## What is certain

* The database refuses to change an event, and to delete one that is not older than 400 days. The service deletes older events. A person
  who may change the tables of the database can remove this protection, so export the log to another machine if you need proof against
  the operator.
* An event is stored after the change and before the answer. A change that was acknowledged has its event. If the event cannot be stored,
  the answer is 503, and the change may have been made. A process that is killed between a change and its event leaves no event and sends
  no answer.
* The event of a run with destructive effects is stored before the plugin starts. If it cannot be stored, the run does not start.
* Plugins with other effects, and requests that read, write no event.
* Refused sign-ins are stored at most 20 times a minute in each process. \`left_out\` counts the others.
* Events of a deleted project stay. They contain ids, and names of keys and projects.

## Who reads it

An administrator reads all events. A key with the scope \`admin\` reads the events of its own project. A key that is limited to collections
or tools reads none, because events name objects that do not exist for it.

\`GET /v1/audit_events\` lists the events, newest first, with the filters \`project_id\`, \`actor\`, \`action\`, \`object\`, \`from\` and \`to\`.
\`GET /v1/audit_events/export\` sends them as JSON Lines, oldest first, up to the time of the request. \`quartermaster audit\` prints them on the
machine of the store.
`;
}
