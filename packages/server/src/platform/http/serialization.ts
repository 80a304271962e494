import build from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';

type Serialize = (data: unknown) => string;

const serializers = new WeakMap<object, Serialize>();

/**
 * Compiles the serializer of a schema when the first response needs it, as validators do. Most schemas describe errors
 * and are rarely used.
 */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  let serialize = serializers.get(schema);
  if (serialize === undefined) {
    serialize = atFirstUse(schema);
    serializers.set(schema, serialize);
  }
  return serialize;
};

function atFirstUse(schema: object): Serialize {
  let compiled: Serialize | undefined;
  return (data) => {
    compiled ??= build(schema);
    return compiled(data);
  };
}
