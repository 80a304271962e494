import { maxInputMembers } from '@quartermaster/contract';
import { credentialLimits } from '../execution/credential-bounds.ts';
import { maxOutputParts } from '../execution/json-bounds.ts';
import { maxBatch } from '../mcp/routes.ts';
import { type Limit, refused } from './limit.ts';

/** Limits of the plugins address: credentials, runs and their results. */
export const pluginLimits = {
  credential_members: {
    bounds: 'of the credentials of one request or profile',
    unit: 'members',
    value: () => credentialLimits.members,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  credential_value_bytes: {
    bounds: 'of one credential',
    unit: 'bytes',
    value: () => credentialLimits.valueBytes,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  credential_bytes: {
    bounds: 'of the names and values of all credentials of one request or profile',
    unit: 'bytes',
    value: () => credentialLimits.totalBytes,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  input_members: {
    bounds: 'of `input_params` at its top level',
    unit: 'members',
    value: () => maxInputMembers,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  output_parts: {
    bounds: 'that are values and names of members in the output of a run',
    unit: 'items',
    value: () => maxOutputParts,
    above: refused('PLUGIN_FAILED'),
  },
  mcp_batch: {
    bounds: 'that are messages of one MCP batch',
    unit: 'items',
    value: () => maxBatch,
    above: '400 with the JSON-RPC error -32600',
  },
} as const satisfies Record<string, Limit>;
