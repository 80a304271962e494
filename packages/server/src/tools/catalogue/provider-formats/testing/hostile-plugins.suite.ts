import type { Plugin } from '@quartermaster/contract';

/** Plugins whose schemas contain constructs that providers are known to reject. The catalogue accepts all of them. */
const text = (description: string) => ({ type: 'string', description });

const inputs = {
  no_parameters: `{"type":"object"}`,
  closed_and_empty: `{"type":"object","properties":{},"additionalProperties":false}`,
  dialect_named: `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"string","description":"A.","x-order":1,"title":"Letter"}}}`,
  root_any_of: `{"type":"object","properties":{"id":{"type":"string","description":"By id."},"name":{"type":"string","description":"By name."}},"anyOf":[{"required":["id"]},{"required":["name"]}]}`,
  root_one_of: `{"type":"object","required":["kind"],"properties":{"kind":{"type":"string","description":"Which."}},"oneOf":[{"properties":{"circle":{"type":"number","description":"Radius."}},"required":["circle"]},{"properties":{"square":{"type":"number","description":"Side."}},"required":["square"]}]}`,
  root_all_of: `{"type":"object","allOf":[{"properties":{"a":{"type":"string","description":"A."}},"required":["a"]},{"properties":{"b":{"type":"integer","description":"B."}}}]}`,
  root_condition: `{"type":"object","properties":{"a":{"type":"string","description":"A."},"b":{"type":"string","description":"B."}},"if":{"required":["a"]},"then":{"required":["b"]},"not":{"required":["c"]}}`,
  union_in_items: `{"type":"object","properties":{"values":{"type":"array","description":"Values.","items":{"anyOf":[{"type":"string"},{"type":"number"}]}},"more":{"type":"array","description":"More.","items":{"type":["string","integer"]}}}}`,
  type_lists: `{"type":"object","required":["either"],"properties":{"maybe":{"type":["string","null"],"description":"Maybe.","maxLength":5},"either":{"type":["integer","string"],"description":"Either.","minimum":1,"pattern":"^a"}}}`,
  numbers_listed: `{"type":"object","properties":{"level":{"type":"integer","enum":[1,2,3],"description":"Level."},"word":{"enum":["a","b",null],"description":"Word."},"always":{"const":"yes","description":"Always."},"mixed":{"enum":["a",1],"description":"Mixed."}}}`,
  tuple: `{"type":"object","properties":{"point":{"type":"array","description":"X, Y.","prefixItems":[{"type":"number"},{"type":"number"}]}}}`,
  free_map: `{"type":"object","required":["tags"],"properties":{"tags":{"type":"object","description":"Tags.","additionalProperties":{"type":"string"}}}}`,
  optional_map: `{"type":"object","required":["name"],"properties":{"name":{"type":"string","description":"Name."},"tags":{"type":"object","description":"Tags."}}}`,
  anything: `{"type":"object","properties":{"value":{"description":"Anything."}}}`,
  references: `{"type":"object","$defs":{"place":{"type":"object","required":["lat"],"properties":{"lat":{"type":"number","description":"Lat."}}}},"properties":{"from":{"$ref":"#/$defs/place","description":"From."},"to":{"$ref":"#/$defs/place","description":"To."}}}`,
  recursive: `{"type":"object","required":["tree"],"$defs":{"node":{"type":"object","required":["label"],"properties":{"label":{"type":"string","description":"Label."},"children":{"type":"array","description":"Below.","items":{"$ref":"#/$defs/node"}}}}},"properties":{"tree":{"$ref":"#/$defs/node","description":"The tree."}}}`,
  deep_combinators: `{"type":"object","properties":{"shape":{"description":"Shape.","oneOf":[{"type":"object","properties":{"r":{"type":"number","description":"R."}},"required":["r"]},{"type":"null"}]},"joined":{"description":"Joined.","allOf":[{"type":"object","properties":{"a":{"type":"string","description":"A."}}},{"type":"object","properties":{"b":{"type":"string","description":"B."}},"required":["b"]}]},"not_empty":{"type":"string","description":"Text.","not":{"const":""}}}}`,
  bounds: `{"type":"object","properties":{"s":{"type":"string","description":"S.","minLength":1,"maxLength":9,"pattern":"^[a-z]+$","format":"uri","default":"a","examples":["b"]},"n":{"type":"number","description":"N.","exclusiveMinimum":0,"maximum":9,"multipleOf":0.5},"l":{"type":"array","description":"L.","items":{"type":"string"},"minItems":1,"maxItems":3,"uniqueItems":true}}}`,
};

export const nastyPlugins: readonly Plugin[] = [
  ...Object.entries(inputs).map(([id, input]) => plugin(id, JSON.parse(input))),
  plugin('wordy', { type: 'object', properties: { a: text('word '.repeat(400)) } }, 'Long. '.repeat(400)),
  plugin(`long_${'x'.repeat(59)}`, { type: 'object', properties: {} }),
  plugin('two__parts', { type: 'object', properties: {} }),
];

function plugin(id: string, input: Record<string, unknown>, description = `Takes ${id}.`): Plugin {
  return {
    object: 'Plugin',
    bundle_id: 'nasty',
    plugin_id: id,
    name: id,
    description,
    input_schema: input,
    output_schema: {
      type: 'object',
      properties: {
        list: { type: 'array', description: 'List.', items: { type: 'object', properties: {} } },
        word: text('Word.'),
      },
    },
    effects: 'write',
    idempotent: false,
  };
}
