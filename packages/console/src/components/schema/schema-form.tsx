import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { boundsOf, type JsonSchema, kindsOf, resolve, variantsOf } from './json-schema.ts';
import classes from './schema-form.module.css';

export interface FieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  /** undefined: no value. */
  readonly onChange: (value: unknown) => void;
}

export type Values = Readonly<Record<string, unknown>>;

/** Form fields for an object, generated from its schema. The service validates the input. */
export function SchemaForm(props: Omit<FieldProps, 'name' | 'isRequired'>) {
  const { schema, root, value, onChange } = props;
  const members = (typeof value === 'object' && value !== null ? value : {}) as Values; // an object, checked
  const change = (name: string, part: unknown) => {
    const { [name]: _, ...others } = members;
    onChange(part === undefined ? others : { ...others, [name]: part });
  };
  return (
    <div className={classes.fields}>
      {Object.entries(schema.properties ?? {}).map(([name, property]) => (
        <Field
          key={name}
          name={name}
          schema={resolve(property, root)}
          root={root}
          value={members[name]}
          isRequired={schema.required?.includes(name) === true}
          onChange={(part) => change(name, part)}
        />
      ))}
    </div>
  );
}

function Field(props: FieldProps) {
  const { schema } = props;
  const [kind] = kindsOf(schema);
  if (schema.enum !== undefined) return <ChoiceField {...props} choices={schema.enum} />;
  if (variantsOf(schema).length > 0) return <VariantField {...props} />;
  if (kind === 'boolean') return <ChoiceField {...props} choices={[true, false]} />;
  if (kind === 'number' || kind === 'integer') return <NumberField {...props} />;
  if (kind === 'string') return <TextField {...props} />;
  if (kind === 'array' && typeof schema.items === 'object') return <ListField {...props} items={schema.items} />;
  if (kind === 'object' && schema.properties !== undefined) return <GroupField {...props} />;
  return <JsonField {...props} />;
}

/** Label, description and marks of every field. */
function useWords({ name, schema, isRequired }: FieldProps) {
  const { t } = useLanguage();
  const bounds = boundsOf(schema, t('schema.characters'));
  const description = [schema.description ?? '', bounds === '' ? '' : `(${bounds})`].filter(Boolean).join(' ');
  return { label: name, description, required: isRequired };
}

function exampleOf({ schema }: FieldProps): string {
  const example = schema.default ?? schema.examples?.[0];
  return example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example);
}

function TextField(props: FieldProps) {
  const { schema, value, onChange } = props;
  const text = typeof value === 'string' ? value : '';
  const change = (next: string) => onChange(next === '' && !props.isRequired ? undefined : next);
  const common = { ...useWords(props), value: text, placeholder: exampleOf(props), spellCheck: false };
  if (schema['x-secret'] === true) {
    return <PasswordField {...common} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
  }
  if ((schema.maxLength ?? 0) > 300) {
    return <Textarea {...common} rows={3} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
  }
  return <TextInput {...common} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
}

function NumberField(props: FieldProps) {
  const { value, onChange } = props;
  return (
    <TextInput
      {...useWords(props)}
      type="number"
      step="any"
      value={typeof value === 'number' ? String(value) : ''}
      placeholder={exampleOf(props)}
      onChange={(event) => {
        const text = event.currentTarget.value;
        onChange(text === '' ? undefined : Number(text));
      }}
    />
  );
}

function ChoiceField({ choices, ...props }: FieldProps & { readonly choices: readonly unknown[] }) {
  const { t } = useLanguage();
  const named = choices.map((choice) => JSON.stringify(choice) ?? '');
  const label = (choice: unknown) =>
    typeof choice === 'boolean'
      ? t(choice ? 'try.yes' : 'try.no')
      : typeof choice === 'string'
        ? choice
        : JSON.stringify(choice);
  return (
    <NativeSelect
      {...useWords(props)}
      value={props.value === undefined ? '' : JSON.stringify(props.value)}
      onChange={(event) => {
        const at = named.indexOf(event.currentTarget.value);
        props.onChange(at < 0 ? undefined : choices[at]);
      }}
      data={[
        { value: '', label: `– ${t('try.notSet')} –` },
        ...choices.map((choice, index) => ({ value: named[index] ?? '', label: label(choice) })),
      ]}
    />
  );
}

function GroupField(props: FieldProps) {
  return (
    <fieldset className={classes.group}>
      <legend>{props.name}</legend>
      <SchemaForm schema={props.schema} root={props.root} value={props.value} onChange={props.onChange} />
    </fieldset>
  );
}

function VariantField(props: FieldProps) {
  const { t } = useLanguage();
  const [at, setAt] = useState(0);
  const variants = variantsOf(props.schema).map((variant) => resolve(variant, props.root));
  const variant = variants[at] ?? {};
  const named = (one: JsonSchema, index: number) => one.title ?? (kindsOf(one).join(' | ') || String(index + 1));
  return (
    <fieldset className={classes.group}>
      <legend>{props.name}</legend>
      <div className={classes.fields}>
        <NativeSelect
          label={t('try.variant')}
          description={props.schema.description}
          value={String(at)}
          onChange={(event) => {
            setAt(Number(event.currentTarget.value));
            props.onChange(undefined);
          }}
          data={variants.map((one, index) => ({ value: String(index), label: named(one, index) }))}
        />
        <Field {...props} schema={variant} />
      </div>
    </fieldset>
  );
}

function ListField({ items, ...props }: FieldProps & { readonly items: JsonSchema }) {
  const { t } = useLanguage();
  const values: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const schema = resolve(items, props.root);
  const set = (next: readonly unknown[]) => props.onChange(next.length === 0 && !props.isRequired ? undefined : next);
  return (
    <fieldset className={classes.group}>
      <legend>{props.name}</legend>
      <div className={classes.fields}>
        {props.schema.description}
        {values.map((value, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no key except their position.
          <div key={index} className={classes.item}>
            <Field
              name={`${props.name} ${index + 1}`}
              schema={schema}
              root={props.root}
              value={value}
              isRequired
              onChange={(next) => set(values.with(index, next ?? null))}
            />
            <Button variant="default" onClick={() => set(values.toSpliced(index, 1))}>
              {t('try.removeItem')}
            </Button>
          </div>
        ))}
        <Button variant="default" size="xs" onClick={() => set([...values, emptyFor(schema)])}>
          {t('try.addItem')}
        </Button>
      </div>
    </fieldset>
  );
}

function emptyFor(schema: JsonSchema): unknown {
  const [kind] = kindsOf(schema);
  if (kind === 'object') return {};
  if (kind === 'array') return [];
  return schema.enum?.[0] ?? (kind === 'string' ? '' : null);
}

/** Values without a field of their own are edited as JSON. */
function JsonField(props: FieldProps) {
  const { t } = useLanguage();
  const id = useId();
  const [text, setText] = useState(props.value === undefined ? '' : JSON.stringify(props.value, null, 2));
  const [failure, setFailure] = useState<string | null>(null);
  const change = (next: string) => {
    setText(next);
    try {
      props.onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setFailure(null);
    } catch (error) {
      setFailure(t('try.badJson', { reason: (error as Error).message }));
    }
  };
  return (
    <Textarea
      {...useWords(props)}
      id={id}
      placeholder="{ }"
      rows={3}
      value={text}
      error={failure}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
