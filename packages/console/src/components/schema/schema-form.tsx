import { Button, NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
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
export function SchemaForm(wish: Omit<FieldProps, 'name' | 'isRequired'>) {
  const { schema, root, value, onChange } = wish;
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

function Field(wish: FieldProps) {
  const { schema } = wish;
  const [kind] = kindsOf(schema);
  if (schema.enum !== undefined) return <ChoiceField {...wish} choices={schema.enum} />;
  if (variantsOf(schema).length > 0) return <VariantField {...wish} />;
  if (kind === 'boolean') return <ChoiceField {...wish} choices={[true, false]} />;
  if (kind === 'number' || kind === 'integer') return <NumberField {...wish} />;
  if (kind === 'string') return <TextField {...wish} />;
  if (kind === 'array' && typeof schema.items === 'object') return <ListField {...wish} items={schema.items} />;
  if (kind === 'object' && schema.properties !== undefined) return <GroupField {...wish} />;
  return <JsonField {...wish} />;
}

/** Label, description and marks of every field. */
function wordsOf({ name, schema, isRequired }: FieldProps) {
  const bounds = boundsOf(schema);
  const description = [schema.description ?? '', bounds === '' ? '' : `(${bounds})`].filter(Boolean).join(' ');
  return { label: name, description, required: isRequired };
}

function exampleOf({ schema }: FieldProps): string {
  const example = schema.default ?? schema.examples?.[0];
  return example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example);
}

function TextField(wish: FieldProps) {
  const { schema, value, onChange } = wish;
  const text = typeof value === 'string' ? value : '';
  const change = (next: string) => onChange(next === '' && !wish.isRequired ? undefined : next);
  const common = { ...wordsOf(wish), value: text, placeholder: exampleOf(wish), spellCheck: false };
  if (schema['x-secret'] === true) {
    return <PasswordInput {...common} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
  }
  if ((schema.maxLength ?? 0) > 300) {
    return <Textarea {...common} rows={3} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
  }
  return <TextInput {...common} autoComplete="off" onChange={(event) => change(event.currentTarget.value)} />;
}

function NumberField(wish: FieldProps) {
  const { value, onChange } = wish;
  return (
    <TextInput
      {...wordsOf(wish)}
      type="number"
      step="any"
      value={typeof value === 'number' ? String(value) : ''}
      placeholder={exampleOf(wish)}
      onChange={(event) => {
        const text = event.currentTarget.value;
        onChange(text === '' ? undefined : Number(text));
      }}
    />
  );
}

function ChoiceField({ choices, ...wish }: FieldProps & { readonly choices: readonly unknown[] }) {
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
      {...wordsOf(wish)}
      value={wish.value === undefined ? '' : JSON.stringify(wish.value)}
      onChange={(event) => {
        const at = named.indexOf(event.currentTarget.value);
        wish.onChange(at < 0 ? undefined : choices[at]);
      }}
      data={[
        { value: '', label: `– ${t('try.notSet')} –` },
        ...choices.map((choice, index) => ({ value: named[index] ?? '', label: label(choice) })),
      ]}
    />
  );
}

function GroupField(wish: FieldProps) {
  return (
    <fieldset className={classes.group}>
      <legend>{wish.name}</legend>
      <SchemaForm schema={wish.schema} root={wish.root} value={wish.value} onChange={wish.onChange} />
    </fieldset>
  );
}

function VariantField(wish: FieldProps) {
  const { t } = useLanguage();
  const [at, setAt] = useState(0);
  const variants = variantsOf(wish.schema).map((variant) => resolve(variant, wish.root));
  const variant = variants[at] ?? {};
  const named = (one: JsonSchema, index: number) => one.title ?? (kindsOf(one).join(' | ') || String(index + 1));
  return (
    <fieldset className={classes.group}>
      <legend>{wish.name}</legend>
      <div className={classes.fields}>
        <NativeSelect
          label={t('try.variant')}
          description={wish.schema.description}
          value={String(at)}
          onChange={(event) => {
            setAt(Number(event.currentTarget.value));
            wish.onChange(undefined);
          }}
          data={variants.map((one, index) => ({ value: String(index), label: named(one, index) }))}
        />
        <Field {...wish} schema={variant} />
      </div>
    </fieldset>
  );
}

function ListField({ items, ...wish }: FieldProps & { readonly items: JsonSchema }) {
  const { t } = useLanguage();
  const values: readonly unknown[] = Array.isArray(wish.value) ? wish.value : [];
  const schema = resolve(items, wish.root);
  const set = (next: readonly unknown[]) => wish.onChange(next.length === 0 && !wish.isRequired ? undefined : next);
  return (
    <fieldset className={classes.group}>
      <legend>{wish.name}</legend>
      <div className={classes.fields}>
        {wish.schema.description}
        {values.map((value, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no name but their place.
          <div key={index} className={classes.item}>
            <Field
              name={`${wish.name} ${index + 1}`}
              schema={schema}
              root={wish.root}
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
function JsonField(wish: FieldProps) {
  const { t } = useLanguage();
  const id = useId();
  const [text, setText] = useState(wish.value === undefined ? '' : JSON.stringify(wish.value, null, 2));
  const [failure, setFailure] = useState<string | null>(null);
  const change = (next: string) => {
    setText(next);
    try {
      wish.onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setFailure(null);
    } catch (error) {
      setFailure(t('try.badJson', { reason: (error as Error).message }));
    }
  };
  return (
    <Textarea
      {...wordsOf(wish)}
      id={id}
      placeholder="{ }"
      rows={3}
      value={text}
      error={failure}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
