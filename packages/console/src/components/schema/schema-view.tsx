import { useLanguage } from '../../language/language.tsx';
import { boundsOf, type JsonSchema, kindsOf, patternOf, resolve, variantsOf } from './json-schema.ts';
import classes from './schema-view.module.css';

const deepest = 6;

export interface SchemaViewProps {
  readonly schema: JsonSchema;
  readonly root?: JsonSchema;
  readonly depth?: number;
}

/** A JSON Schema as a list: names, types, bounds and descriptions. */
export function SchemaView({ schema, root = schema, depth = 0 }: SchemaViewProps) {
  const { t } = useLanguage();
  const whole = resolve(schema, root);
  const properties = Object.entries(whole.properties ?? {});
  if (depth > deepest) return null;
  if (properties.length === 0 && depth === 0) return <p className={classes.none}>{t('plugin.noInput')}</p>;
  return (
    <dl className={classes.list}>
      {properties.map(([name, property]) => (
        <Property
          key={name}
          name={name}
          property={resolve(property, root)}
          root={root}
          depth={depth}
          isRequired={whole.required?.includes(name) === true}
        />
      ))}
    </dl>
  );
}

interface PropertyProps {
  readonly name: string;
  readonly property: JsonSchema;
  readonly root: JsonSchema;
  readonly depth: number;
  readonly isRequired: boolean;
}

function Property({ name, property, root, depth, isRequired }: PropertyProps) {
  const { t } = useLanguage();
  const items = typeof property.items === 'object' ? resolve(property.items, root) : undefined;
  const variants = variantsOf(property);
  const inner = property.properties === undefined ? items : property;
  const bounds = [boundsOf(property, t('schema.characters')), patternOf(property)].filter(Boolean).join(' · ');
  return (
    <div className={classes.property}>
      <dt>
        <code className={classes.name}>{name}</code>
        <span className={classes.kind}>{nameOfKind(property, items) || t('schema.anything')}</span>
        {isRequired ? <span className={classes.required}>{t('schema.required')}</span> : null}
        {bounds === '' ? null : <span className={classes.kind}>{bounds}</span>}
        {property.default === undefined ? null : (
          <span className={classes.kind}>{t('schema.default', { value: JSON.stringify(property.default) })}</span>
        )}
      </dt>
      <dd>
        {property.description}
        {property.enum === undefined ? null : (
          <div className={classes.values}>
            {property.enum.map((value) => (
              <code key={String(value)}>{JSON.stringify(value)}</code>
            ))}
          </div>
        )}
        {inner?.properties === undefined ? null : <SchemaView schema={inner} root={root} depth={depth + 1} />}
        {variants.length === 0 ? null : (
          <>
            <div className={classes.kind}>{t('schema.oneOf')}</div>
            {variants.map((variant, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: variants have no key except their position.
              <SchemaView key={index} schema={resolve(variant, root)} root={root} depth={depth + 1} />
            ))}
          </>
        )}
      </dd>
    </div>
  );
}

function nameOfKind(schema: JsonSchema, items: JsonSchema | undefined): string {
  const kinds = kindsOf(schema);
  if (items === undefined) return kinds.join(' | ');
  return kinds.map((kind) => (kind === 'array' ? `array of ${kindsOf(items).join(' | ') || '…'}` : kind)).join(' | ');
}
