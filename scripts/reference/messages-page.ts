import { errorCodes } from '../../packages/contract/src/contract.ts';
import { collectMessages, type Message, type MessageKind, readSources } from './messages/collect-messages.ts';

/** Renders `docs/reference/messages.md`: every message that a user can see, read from the code. */
export function describeMessages(): string {
  const messages = collectMessages(readSources());
  const of = (kind: MessageKind) => messages.filter((message) => message.kind === kind);
  return `# Messages

Generated from the code by \`npm run reference\`; do not edit. \`…\` stands for a value. The script finds every text that reaches an error
constructor, the logger, a standard stream, a report, or a check of a setting or of a bundle. It follows texts that are passed to a function
to its callers. A new message therefore changes this page, and \`npm run check\` fails until the page is generated again and reviewed.

Not listed: sentences about values that break a schema, which name the field, the value and the rule; texts of plugins and third parties;
the codes of [records and rows](errors.md#records); the texts of the console, which are in \`packages/console/src/language/\`.

## API errors

Each has a [code](errors.md) that keeps its meaning. Sentences may change.

| Code | Status | Message | Module |
|---|---|---|---|
${of('problem').map(problemRow).join('\n')}

## Outcomes of runs

They are part of the message of \`PLUGIN_FAILED\`, \`PROVIDER_ERROR\` and \`REQUEST_VALIDATION_ERROR\`.

| Outcome | Message | Module |
|---|---|---|
${of('outcome').map(outcomeRow).join('\n')}

## Wrong settings

Each line starts with the name of the variable. [Settings](settings.md) lists all variables.

${of('setting').map(settingRow).join('\n')}

## Errors of commands, of the start and in the log

| Message | Module |
|---|---|
${of('error').map(errorRow).join('\n')}

## Command line

[Commands](commands.md) describes every command. Output besides tables and JSON:

${of('output').map(settingRow).join('\n')}

## Installation

\`npm start\` and the other npm scripts install packages and build the console first.

${of('setup').map(settingRow).join('\n')}

## Banner of a start

Of these lines, a terminal shows those that apply.

${of('banner').map(settingRow).join('\n')}

## Doctor

| Check | Message |
|---|---|
${of('doctor').map(doctorRow).join('\n')}

## Errors of bundles

\`quartermaster bundle check\` and the log name the file, the line and the field in front of each.

${of('manifest').map(settingRow).join('\n')}

## Warnings in the report of a record

${of('report').map(settingRow).join('\n')}

## Reasons of a slow body

An error about a body that arrives too slowly contains one of these reasons.

${of('reason').map(settingRow).join('\n')}

## Log

The log is JSON lines on standard error. \`msg\` is one of these messages. Fields hold ids, counts and names; keys, passwords, tokens,
credentials, bodies and queries of requests are never logged. [The guide](../guides/operating.md#the-log) explains the lines about requests
and access.

| Message | Level | \`event\` | Module |
|---|---|---|---|
${of('log').map(logRow).join('\n')}
`;
}

function problemRow({ code, text, module }: Message): string {
  const known = Object.entries(errorCodes).find(([name]) => name === code)?.[1];
  return `| ${known === undefined ? code : `\`${code}\``} | ${known?.status ?? ''} | ${cell(text)} | ${module} |`;
}

function outcomeRow({ code, text, module }: Message): string {
  return `| \`${code}\` | ${cell(text)} | ${module} |`;
}

function doctorRow({ code, text }: Message): string {
  return `| ${code} | ${cell(text)} |`;
}

function settingRow({ text }: Message): string {
  return `* ${cell(text)}`;
}

function errorRow({ text, module }: Message): string {
  return `| ${cell(text)} | ${module} |`;
}

function logRow({ text, code, event, module }: Message): string {
  return `| ${cell(text)} | ${code} | ${event === '' ? '' : `\`${event}\``} | ${module} |`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
