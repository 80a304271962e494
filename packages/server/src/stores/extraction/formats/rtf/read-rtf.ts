import { cut } from '../../cut-text.ts';
import type { Block, Document } from '../../document.ts';
import { fileEmpty, fileTypeMismatch } from '../../extraction-error.ts';
import { tableBlock } from '../docx/reader.ts';
import { picturesNotRead } from '../picture-text.ts';
import { isSymbolFont, shownIn } from '../symbol-fonts.ts';
import { createColors } from './rtf-colors.ts';
import { type FormField, newFormField, startOption, takeFormWord, takeOption, textOfField } from './rtf-form.ts';
import { firstState, type State, unmarked } from './rtf-state.ts';
import { appendText, newStory, type Story, takeText } from './rtf-story.ts';
import { characters, codePageOf, decode, destinations, transparent } from './rtf-tables.ts';
import { type RtfToken, readTokens } from './rtf-tokens.ts';

interface Style {
  readonly level: number | undefined;
}

/**
 * Reads the visible text of an RTF document. Tracked changes are accepted, notes and boxes follow their paragraph, and what is not
 * shown is counted. Pictures are counted, too; they and objects are not opened. Source: RTF specification 1.9.1.
 */
export function readRtf(bytes: Uint8Array): Document {
  if (bytes.length === 0) throw fileEmpty();
  if (!/^\{\\rtf/.test(Buffer.from(bytes.subarray(0, 16)).toString('latin1')))
    throw fileTypeMismatch('RTF', 'of another kind');
  const reader = new RtfReader();
  for (const token of readTokens(bytes)) reader.take(token);
  return reader.end();
}

class RtfReader {
  #codePage = 1252;
  #defaultFont = 0;
  readonly #fonts = new Map<number, number | undefined>();
  /** The names of the fonts that show other characters than those of their text. */
  readonly #symbolFonts = new Map<number, string>();
  readonly #styles = new Map<number, Style>();
  readonly #dropped = { deleted: 0, hidden: 0, comments: 0, headers_and_footers: 0 };
  readonly #colors = createColors();
  #pictures = 0;
  #form: FormField = newFormField();
  readonly #states: State[] = [];
  readonly #stories: Story[] = [newStory()];
  #state = firstState();
  /** Bytes of a code page whose character may not be complete. */
  #pending: number[] = [];
  #skipped = 0;
  #notes = 0;
  /** The text of a group that is no text of the document. */
  #name = '';
  #title = '';

  get #story(): Story {
    return this.#stories.at(-1) as Story; // the body is always there
  }

  take(token: RtfToken): void {
    if (token.kind === 'bytes') {
      this.#takeBytes(token);
      return;
    }
    this.#flushBytes();
    if (token.kind === 'open') {
      this.#skipped = 0;
      this.#states.push({ ...this.#state });
      Object.assign(this.#state, { opening: true, starred: false, hasStory: false });
    } else if (token.kind === 'close') {
      this.#skipped = 0;
      this.#closeGroup();
    } else if (this.#skipped > 0 && token.word !== 'u' && token.word !== '*') this.#skipped -= 1;
    else this.#takeControl(token.word, token.value);
  }

  end(): Document {
    this.#flushBytes();
    while (this.#states.length > 0) this.#closeGroup();
    const story = this.#stories[0] ?? newStory();
    this.#endParagraph(story);
    this.#endTable(story);
    const title = cut(this.#title.trim(), 500);
    return {
      blocks: story.blocks,
      facts: { ...(title === '' ? {} : { title }), dropped: this.#dropped },
      warnings: picturesNotRead(this.#pictures, 'Pictures in RTF files are never read. Save the document as .docx.'),
    };
  }

  #takeBytes({ bytes, isEscaped }: { bytes: Uint8Array; isEscaped: boolean }): void {
    this.#state.opening = false;
    const skipped = Math.min(this.#skipped, bytes.length);
    this.#skipped -= skipped;
    const rest = bytes.subarray(skipped);
    // Bytes of a double-byte character may come one by one, and in both forms.
    if (this.#pending.length === 0 && !isEscaped && isAscii(rest)) this.#write(Buffer.from(rest).toString('latin1'));
    else for (const byte of rest) this.#pending.push(byte);
  }

  #flushBytes(): void {
    if (this.#pending.length === 0) return;
    const bytes = Uint8Array.from(this.#pending);
    this.#pending = [];
    const font = this.#state.font ?? this.#defaultFont;
    const isSymbols = this.#symbolFonts.has(font) && this.#state.destination !== 'label';
    const page = this.#fonts.get(font) ?? this.#codePage;
    this.#write(isSymbols ? Buffer.from(bytes).toString('latin1') : decode(bytes, page));
  }

  #write(text: string): void {
    const { destination, hidden, deleted } = this.#state;
    const story = this.#story;
    if (destination === 'text' || destination === 'note' || destination === 'box') {
      if (deleted) this.#dropped.deleted += text.trim().length;
      else if (hidden || (text.trim() !== '' && this.#colors.isUnseen(this.#state)))
        this.#dropped.hidden += text.trim().length;
      else appendText(story, shownIn(this.#symbolFont(), text), this.#state);
    } else if (destination === 'fonts') this.#nameFont(text);
    else if (destination === 'label') story.label += text;
    else if (destination === 'colors') this.#colors.end(text);
    else if (destination === 'comment') this.#dropped.comments += text.trim().length;
    else if (destination === 'around') this.#dropped.headers_and_footers += text.trim().length;
    else if (destination === 'title') this.#title += text;
    else if (destination === 'option') takeOption(this.#form, text);
    else if (destination === 'styles' && this.#name.length < 100) this.#name += text;
  }

  #symbolFont(): string {
    return this.#symbolFonts.get(this.#state.font ?? this.#defaultFont) ?? '';
  }

  #nameFont(text: string): void {
    const name = text.replace(/;\s*$/, '').trim();
    if (isSymbolFont(name)) this.#symbolFonts.set(this.#state.font ?? 0, name);
  }

  #takeControl(word: string, value: number | undefined): void {
    const state = this.#state;
    if (word === '*') {
      state.starred = true;
      return;
    }
    if (state.opening && this.#openDestination(word)) return;
    state.opening = false;
    if (Object.hasOwn(characters, word)) this.#write(characters[word] ?? '');
    else if (word === 'u') {
      this.#write(String.fromCharCode((value ?? 0x3f) & 0xffff));
      this.#skipped = state.fallback;
    } else if (word === 'ansicpg') this.#codePage = value ?? this.#codePage;
    else if (word === 'deff') this.#defaultFont = value ?? 0;
    else if (word === 'mac') this.#codePage = 10000;
    else if (word === 'pc') this.#codePage = 437;
    else if (word === 'pca') this.#codePage = 850;
    else if (word === 'fcharset' && state.destination === 'fonts') this.#fonts.set(state.font ?? 0, codePageOf(value));
    else if (state.destination === 'form' && takeFormWord(this.#form, word, value)) return;
    else if (state.destination === 'colors') this.#colors.take(word, value);
    else if (word === 'uc') state.fallback = Math.max(0, Math.min(value ?? 1, 10));
    else if (word === 'f') state.font = value;
    else if (word === 'cf') state.color = value;
    else if (word === 'fs') state.size = value;
    else if (backgrounds.has(word)) state.isBacked = value !== 0;
    else if (word === 'v') state.hidden = value !== 0;
    else if (word === 'deleted') state.deleted = value !== 0;
    else if (word === 'plain') Object.assign(state, unmarked);
    else if (word === 'super') state.raised = value !== 0;
    else if (word === 'sub' || word === 'nosupersub') state.raised = false;
    else if (word === 'strike' || word === 'striked') state.struck = value !== 0;
    else if (word === 's') state.style = value;
    else if (word === 'outlinelevel') state.outline = value;
    else if (word === 'pard') Object.assign(state, { inTable: false, outline: undefined, style: undefined });
    else if (word === 'intbl') state.inTable = true;
    else this.#takeEnd(word);
  }

  /** Returns whether the word names the destination of its group, or the group is skipped because of it. */
  #openDestination(word: string): boolean {
    const state = this.#state;
    state.opening = false;
    const named = Object.hasOwn(destinations, word) ? destinations[word] : undefined;
    if (state.destination === 'skip' && word !== 'title' && word !== 'formfield') return false;
    if (named === undefined) {
      // Its picture is in a group within it, and once more in `nonshppict` for older programs.
      if (word === 'shppict') this.#pictures += 1;
      if (state.starred && !transparent.has(word)) state.destination = 'skip';
      return state.destination === 'skip';
    }
    // Boxes of a header belong to it, and so on.
    const isOutside = state.destination === 'around' || state.destination === 'comment';
    if (word === 'pict' && !isOutside) this.#pictures += 1;
    if (isOutside && named !== 'skip') return true;
    if (named === 'label') this.#story.label = '';
    if (named === 'form') this.#form = newFormField();
    if (named === 'option') startOption(this.#form);
    if (named === 'note' || named === 'box') {
      this.#stories.push(newStory());
      Object.assign(state, { hasStory: true, inTable: false, outline: undefined, style: undefined });
    }
    state.destination = named;
    return true;
  }

  #takeEnd(word: string): void {
    if (!['text', 'note', 'box'].includes(this.#state.destination)) return;
    const story = this.#story;
    if (word === 'par' || word === 'sect' || word === 'page') {
      if (this.#state.inTable) appendText(story, ' ');
      else this.#endParagraph(story);
    } else if (word === 'cell') {
      story.cells.push([story.label, takeText(story)].join(' '));
      story.label = '';
    } else if (word === 'nestcell' || word === 'nestrow') appendText(story, ' ');
    else if (word === 'row') {
      story.rows.push(story.cells);
      story.cells = [];
    }
  }

  #endParagraph(story: Story): void {
    const text = takeText(story)
      .split('\n')
      .map((line) => line.replace(/[\t ]+/g, ' ').trim())
      .join('\n')
      .trim();
    const label = story.label.replace(/\s+/g, ' ').trim();
    const { after } = story;
    Object.assign(story, { label: '', after: [] });
    if (text !== '') {
      this.#endTable(story);
      story.blocks.push(this.#blockOf(text, label));
    }
    for (const block of after) story.blocks.push(block);
  }

  #blockOf(text: string, label: string): Block {
    const { outline, style } = this.#state;
    const level = outline ?? this.#styles.get(style ?? -1)?.level;
    if (level !== undefined && level < 9)
      return {
        kind: 'heading',
        level: Math.min(level, 5) + 1,
        text: [isNumber(label) ? label : '', text].join(' ').trim(),
      };
    if (label === '') return { kind: 'paragraph', text };
    return { kind: 'list_item', text: `${isNumber(label) ? label : '-'} ${text}` };
  }

  #endTable(story: Story): void {
    // A damaged table may lack the end of its last row.
    if (story.cells.length > 0) story.rows.push(story.cells);
    story.cells = [];
    const block = tableBlock(story.rows);
    story.rows = [];
    if (block !== undefined) story.blocks.push(block);
  }

  #closeGroup(): void {
    const closed = this.#state;
    this.#state = this.#states.pop() ?? closed;
    const { destination } = closed;
    if (destination === 'styles' && this.#name !== '') this.#endStyle(closed);
    if (destination === 'form' && this.#state.destination !== 'form') this.#endForm();
    if (!closed.hasStory) return;
    const story = this.#stories.pop() as Story; // opened with the group
    this.#endParagraph(story);
    this.#endTable(story);
    const around = this.#story;
    if (destination === 'box') {
      for (const block of story.blocks) around.after.push(block);
      return;
    }
    this.#notes += 1;
    appendText(around, `[${this.#notes}]`);
    for (const [at, block] of story.blocks.entries())
      around.after.push(at === 0 ? { ...block, text: `[${this.#notes}] ${block.text}` } : block);
  }

  /** The instructions of a field are skipped, so the group around them decides whether it is shown. */
  #endForm(): void {
    const around = this.#states.findLast(({ destination }) => destination !== 'skip');
    if (around?.destination !== 'text' && around?.destination !== 'note' && around?.destination !== 'box') return;
    if (!around.hidden && !around.deleted) appendText(this.#story, textOfField(this.#form), around);
  }

  #endStyle({ style, outline }: State): void {
    const heading = /^\s*heading ([1-9])\b/i.exec(this.#name);
    const level =
      outline ?? (heading === null ? (/^\s*title;/i.test(this.#name) ? 0 : undefined) : Number(heading[1]) - 1);
    this.#styles.set(style ?? 0, { level });
    this.#name = '';
  }
}

const backgrounds = new Set(['cb', 'highlight', 'chcbpat', 'cbpat', 'chshdng', 'shading']);

/** Word writes the bullet of a second level with the letter o. */
const isNumber = (label: string) => /[\p{L}\p{N}]/u.test(label) && label !== 'o';

const isAscii = (bytes: Uint8Array) => bytes.every((byte) => byte < 0x80);
