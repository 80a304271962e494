/*
 * Names that the columns of a question–answer sheet have in use, the plainest first. Compared without regard to case,
 * width, accents of the keyboard, blanks and punctuation.
 */
const questionNames = `
question questions q query queries prompt ask faq instruction input front term word phrase concept keyword entry lemma
问题 問題 问 問 提问 提問 问句 疑问 标准问题 標準問題 常见问题 術語 术语 词条 詞條 名词 名詞 质问 质询 題目 题目 質問 質問文 設問 問い 用語 見出し語 単語
질문 문제 물음 질의 용어 단어
pregunta preguntas consulta cuestión término palabra concepto pergunta perguntas questão questões termo palavra domanda
domande quesito termine parola quesito frage fragen fragestellung begriff wort stichwort terme mot vraag vragen
spørgsmål spørsmål fråga frågor begrepp kysymys kysymykset käsite termi spurning otázka otázky dotaz pojem pytanie
pytania pojęcie hasło kérdés kérdések fogalom întrebare întrebări intrebare termen soru sorular terim pitanje pitanja
pojam vprašanje vprašanja pojem klausimas klausimai terminas jautājums jautājumi termins küsimus küsimused mõiste
pyetje galdera pregunta ceist cwestiwn mistoqsija spurningur
вопрос вопросы термин понятие слово въпрос въпроси питання запитання запит термін прашање питање питања пытанне
ερώτηση ερωτήσεις όρος سؤال أسئلة السؤال مصطلح المصطلح پرسش سوال שאלה שאלות מונח
प्रश्न सवाल প্রশ্ন கேள்வி ప్రశ్న ಪ್ರಶ್ನೆ ചോദ്യം ਪ੍ਰਸ਼ਨ પ્રશ્ન คำถาม คําถาม câuhỏi hỏi thuậtngữ pertanyaan soalan soal tanong swali vraag
հարց კითხვა сұрақ savol асуулт`;
const answerNames = `
answer answers a ans reply response completion output back definition definitions meaning explanation description solution
答案 回答 答 答复 答覆 回复 回覆 解答 标准答案 標準答案 解释 解釋 定义 定義 释义 釋義 说明 說明 答え 回答文 返答 応答 説明 意味
답변 답 대답 정답 응답 정의 설명
respuesta respuestas contestación definición significado resposta respostas definição significado risposta risposte
definizione significato antwort antworten definition bedeutung erklärung réponse réponses définition signification
antwoord antwoorden definitie betekenis svar definition forklaring vastaus vastaukset määritelmä selitys svar odpověď
odpovědi definice význam odpoveď odpovede definícia odpowiedź odpowiedzi definicja znaczenie válasz válaszok
meghatározás jelentés răspuns răspunsuri raspuns definiție definiţie cevap cevaplar yanıt yanıtlar tanım odgovor odgovori
definicija atsakymas atsakymai apibrėžimas atbilde atbildes definīcija vastus vastused määratlus përgjigje erantzuna
freagra ateb tweġiba
ответ ответы определение значение отговор отговори відповідь відповіді визначення одговор одговори адказ
απάντηση απαντήσεις ορισμός جواب الجواب إجابة الإجابة أجوبة إجابات تعريف التعريف پاسخ תשובה תשובות הגדרה
उत्तर जवाब উত্তর பதில் సమాధానం ಉತ್ತರ ഉത്തരം ਉੱਤਰ જવાબ คำตอบ คําตอบ câutrảlời trảlời đápán địnhnghĩa jawaban jawapan sagot jibu
պատասխան პასუხი жауап javob хариулт`;
const idNames = 'id key uid uuid externalid identifier 编号 編號 序号 番号 識別子 번호 아이디 идентификатор معرف';
const tagNames =
  'tags tag labels label category categories 标签 標籤 分类 分類 タグ カテゴリ 태그 분류 etiquetas etiqueta schlagwörter schlagworte étiquettes mots-clés теги тег метки категория وسوم';

/**
 * The prefix of the columns that explain refused rows. When the sheet is uploaded again, they are not part of its
 * pairs.
 */
export const reportPrefix = 'qm:';

const limits = { entries: 16, name: 64 };

export interface PairColumns {
  readonly question: number;
  readonly answer: number;
  /** The column that identifies the row across uploads. It is metadata as well. */
  readonly id: number | null;
  /** The index and name of each column that becomes metadata. */
  readonly others: ReadonlyArray<readonly [index: number, name: string]>;
  /** The names of the columns that are ignored because there are too many. */
  readonly left: readonly string[];
  /** Whether the sheet is a report of refused rows that was uploaded again. */
  readonly isReport: boolean;
  readonly width: number;
}

/** Finds the columns by their names, in any order; null when one is missing. */
export function findPairColumns(header: readonly string[]): PairColumns | null {
  const names = Array.from(header, (cell = '') => normalise(cell));
  const question = firstOf(names, ranks.question);
  const answer = firstOf(names, ranks.answer);
  if (question === -1 || answer === -1) return null;
  return toColumns(header, { question, answer, id: firstOf(names, ranks.id) });
}

/** Returns the columns of a sheet with two columns and no header. */
export function assumePairColumns(question: number, answer: number): PairColumns {
  return { question, answer, id: null, others: [], left: [], isReport: false, width: answer + 1 };
}

/** Whether a cell is the name of a column of questions or answers. */
export function isPairName(cell: string): boolean {
  const name = normalise(cell);
  return ranks.question.has(name) || ranks.answer.has(name);
}

function toColumns(
  header: readonly string[],
  { question, answer, id }: { question: number; answer: number; id: number },
): PairColumns {
  const others: Array<readonly [number, string]> = [];
  const left: string[] = [];
  const isReport = header.some((cell = '') => cell.startsWith(reportPrefix));
  for (const [index, cell = ''] of header.entries()) {
    const name = metadataName(isReport ? withoutGuard(cell) : cell, index);
    if (index === question || index === answer || name.startsWith(reportPrefix)) continue;
    const isTaken = others.some(([, other]) => other === name);
    if (isTaken || others.length === limits.entries) left.push(name);
    else others.push([index, name]);
  }
  return { question, answer, id: id === -1 ? null : id, others, left, isReport, width: header.length };
}

/** Removes the apostrophe that a report of refused rows puts before text that looks like a formula. */
export function withoutGuard(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}

/** Returns the name of a metadata column: `meta.x` gives x; a column without a name is named by its number. */
function metadataName(cell: string, index: number): string {
  const name = cell
    .replaceAll('\0', '')
    .toWellFormed()
    .trim()
    .replace(/^meta\./i, '');
  if (name === '') return `column ${index + 1}`;
  if (ranks.tags.has(normalise(name))) return 'tags';
  return [...name].slice(0, limits.name).join('').slice(0, limits.name).toWellFormed();
}

function normalise(cell: string): string {
  return cell
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}\p{Cf}]/gu, '');
}

const ranks = {
  question: rank(questionNames),
  answer: rank(answerNames),
  id: rank(idNames),
  tags: rank(tagNames),
};

function rank(names: string): ReadonlyMap<string, number> {
  return new Map(
    names
      .trim()
      .split(/\s+/)
      .map((name, place) => [normalise(name), place]),
  );
}

/** Returns the column with the plainest name; -1 when there is none. */
function firstOf(names: readonly string[], ranks: ReadonlyMap<string, number>): number {
  let found = -1;
  let best = Number.POSITIVE_INFINITY;
  for (const [index, name] of names.entries()) {
    const place = ranks.get(name) ?? Number.POSITIVE_INFINITY;
    if (place < best) [found, best] = [index, place];
  }
  return found;
}
