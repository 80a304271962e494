/*
 * Accepted names of the columns of a question–answer sheet, without blanks, the plainest first. docs/reference/sheets.md lists them.
 * They are compared without regard to case, width, blanks and punctuation.
 */

/** Names that are also recognised as a word of a longer name, such as "Customer question". */
export const questionWords = list(`
question questions 问题 問題 提问 提問 问句 疑问 标准问题 標準問題 常见问题 质问 质询 質問 質問文 設問 問い 질문 물음 질의 pregunta preguntas cuestión pergunta
perguntas questão questões domanda domande quesito frage fragen fragestellung vraag vragen spørgsmål spørsmål fråga
frågor kysymys kysymykset spurning otázka otázky pytanie pytania kérdés kérdések întrebare întrebări intrebare soru
sorular pitanje pitanja vprašanje vprašanja klausimas klausimai jautājums jautājumi küsimus küsimused pyetje galdera
ceist cwestiwn mistoqsija spurningur вопрос вопросы въпрос въпроси питання запитання прашање питање питања пытанне
ερώτηση ερωτήσεις سؤال أسئلة السؤال پرسش سوال שאלה שאלות प्रश्न सवाल প্রশ্ন கேள்வி ప్రశ్న ಪ್ರಶ್ನೆ ചോദ്യം ਪ੍ਰਸ਼ਨ પ્રશ્ન
คำถาม คําถาม câuhỏi hỏi pertanyaan soalan soal tanong swali հարց კითხვა сұрақ savol асуулт anliegen 咨询 諮詢 问询
問い合わせ お問い合わせ 문의 обращение demande dúvida duda استفسار`);
/** Names that must be the whole name, because as one of several words they say too little. */
const otherQuestionNames = list(`
q query queries prompt ask faq instruction input front term word phrase concept keyword entry lemma 问 問 術語 术语 词条 詞條 名词
名詞 題目 题目 用語 見出し語 単語 문제 용어 단어 consulta término palabra concepto termo palavra termine parola begriff wort stichwort
terme mot begrepp käsite termi dotaz pojem pojęcie hasło fogalom termen terim pojam terminas termins mõiste термин
понятие слово запит термін όρος مصطلح المصطلح מונח thuậtngữ problem issue user human`);
export const answerWords = list(`
answer answers reply replies response responses 答案 回答 答复 答覆 回复 回覆 解答 标准答案 標準答案 答え 回答文 返答 応答 답변 대답 정답 응답 respuesta
respuestas contestación resposta respostas risposta risposte antwort antworten réponse réponses antwoord
antwoorden svar vastaus vastaukset odpověď odpovědi odpoveď odpovede odpowiedź odpowiedzi válasz válaszok răspuns
răspunsuri raspuns cevap cevaplar yanıt yanıtlar odgovor odgovori atsakymas atsakymai atbilde atbildes vastus vastused
përgjigje erantzuna freagra ateb tweġiba ответ ответы отговор отговори відповідь відповіді одговор одговори адказ
απάντηση απαντήσεις جواب الجواب إجابة الإجابة أجوبة إجابات پاسخ תשובה תשובות उत्तर जवाब উত্তর பதில் సమాధానం ಉತ್ತರ
ഉത്തരം ਉੱਤਰ જવાબ คำตอบ คําตอบ câutrảlời trảlời đápán jawaban jawapan sagot jibu պատասխան პასუხი жауап javob хариулт
auskunft 解决方案 解決方案 разъяснение`);
const otherAnswerNames = list(`
a ans expected expecteddocument expectedpassage expectedrecord expectedsource completion output back definition definitions meaning explanation description solution 答 解释 解釋 定义 定義 释义 釋義 说明 說明
説明 意味 답 정의 설명 definición significado definição definizione bedeutung erklärung définition signification definitie
significato betekenis forklaring määritelmä selitys definice význam definícia definicja znaczenie meghatározás jelentés definiție
definiţie tanım definicija apibrėžimas definīcija määratlus определение значение визначення ορισμός تعريف التعريف
הגדרה địnhnghĩa resolution assistant 期望 期望文档 期望段落 预期 预期文档 预期段落 預期 預期文件 期待文書 erwartet`);

export const acceptedNames = {
  question: [...questionWords, ...otherQuestionNames],
  answer: [...answerWords, ...otherAnswerNames],
  id: list(`
id key uid uuid externalid identifier 编号 編號 序号 番号 識別子 번호 아이디 идентификатор معرف`),
  tags: list(`
tags tag labels label category categories 标签 標籤 分类 分類 タグ カテゴリ 태그 분류 etiquetas etiqueta schlagwörter schlagworte
étiquettes mots-clés теги тег метки категория وسوم`),
};

/** Words that form longer words without a blank, as in "Fragetext" and "Kundenfrage". */
export const questionStems = list('frage anliegen vraag fråge fråga spørgsmål spørsmål');
export const answerStems = list('antwort auskunft antwoord');
/** Beginnings of words that end in up to three letters, as in "Скрипт ответа" and "întrebarea". */
export const questionBeginnings = list(`
вопрос запрос обращени въпрос питанн запитанн прашањ питањ întrebar întrebăr intrebar pytani zapytani otáz dotaz pitanj kérdés kysymy
domand quesit pregunt pergunt spurning klausim jautājum`);
export const answerBeginnings = list(`
ответ разъяснени отговор відповід одговор răspuns raspuns odpowied odpověd odpoved odgovor válasz vastau rispost respuest respost
atsakym atbild`);

/** Words after which a name is not that of the questions or answers themselves, as in "Question ID" and "问题类型". */
export const attributeWords = list(`
id ids uuid key no nr num number numbers count total date day time type kind category author by from source url link
score scores rating votes status state language lang index idx start end length len tag tags label topic group level
order file code hash created updated modified position page wrong incorrect false nummer anzahl datum zeit typ art
kategorie autor quelle sprache bogen katalog falsche falsch numéro nombre auteur langue catégorie número numero fecha
tipo fuente idioma estado categoría data categoria fonte lingua номер дата тип категория автор источник язык статус 编号
編號 序号 序號 番号 号码 类型 類型 類別 类别 分类 分類 时间 時間 日期 日付 日時 作者 者 人 数 數 状态 狀態 来源 來源 链接 連結 语言 語言 言語 标签 標籤 错误 錯誤 誤 번호 유형 분류 날짜 시간 작성자
수 상태 출처 언어 오답 처 电话 電話 窗口 ответчик`);

function list(names: string): string[] {
  return names.trim().split(/\s+/);
}
