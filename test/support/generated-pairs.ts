/** What sentences of a language are made of. `{what}`, `{place}` and `{action}` are replaced. */
interface Phrases {
  /** Similar questions: several differ by one word. */
  readonly questions: readonly string[];
  readonly actions: readonly string[];
  readonly things: readonly string[];
  readonly places: readonly string[];
  /** `{other}` is the question of another pair. */
  readonly answer: string;
}

const phrases: Readonly<Record<string, Phrases>> = {
  en: {
    questions: [
      'How do I {action} the {what}?',
      'How do I {action} the {what} {place}?',
      'Can I {action} the {what} {place}?',
      'Why can I not {action} the {what} {place}?',
      'Who may {action} the {what} {place}?',
    ],
    actions: ['change', 'delete', 'export', 'share', 'print', 'restore'],
    things: ['password', 'invoice', 'address', 'contract', 'calendar', 'report', 'backup', 'account'],
    places: ['on the phone', 'on the computer', 'in the browser', 'without a connection', 'for a colleague'],
    answer:
      'Open the settings and choose the {what}. Before, you may ask yourself: {other} {other} The {what} is kept.',
  },
  de: {
    questions: [
      'Wie kann ich {what} {action}?',
      'Wie kann ich {what} {place} {action}?',
      'Darf ich {what} {place} {action}?',
      'Warum kann ich {what} {place} nicht {action}?',
      'Wer darf {what} {place} {action}?',
    ],
    actions: ['ändern', 'löschen', 'ausführen', 'teilen', 'drucken', 'wiederherstellen'],
    things: ['Passwörter', 'Rechnungen', 'Adressen', 'Verträge', 'Kalender', 'Berichte', 'Sicherungen', 'Konten'],
    places: ['am Telefon', 'am Rechner', 'im Browser', 'ohne Verbindung', 'für Kollegen'],
    answer:
      'Öffnen Sie die Einstellungen für {what}. Oft folgen die Fragen: {other} {other} Die {what} bleiben erhalten.',
  },
  ru: {
    questions: [
      'Как мне {action} {what}?',
      'Как мне {action} {what} {place}?',
      'Могу ли я {action} {what} {place}?',
      'Почему я не могу {action} {what} {place}?',
      'Кто может {action} {what} {place}?',
    ],
    actions: ['изменить', 'удалить', 'выгрузить', 'передать', 'напечатать', 'восстановить'],
    things: ['пароль', 'счёт', 'адрес', 'договор', 'календарь', 'отчёт', 'архив', 'профиль'],
    places: ['на телефоне', 'на компьютере', 'в браузере', 'без связи', 'для коллеги'],
    answer: 'Откройте настройки и выберите {what}. Часто спрашивают: {other} {other} После этого {what} сохранится.',
  },
  zh: {
    questions: [
      '如何{action}{what}？',
      '如何{place}{action}{what}？',
      '可以{place}{action}{what}吗？',
      '为什么不能{place}{action}{what}？',
      '谁可以{place}{action}{what}？',
    ],
    actions: ['修改', '删除', '导出', '分享', '打印', '恢复'],
    things: ['密码', '发票', '地址', '合同', '日历', '报告', '备份', '账户'],
    places: ['在手机上', '在电脑上', '在浏览器里', '在没有网络时', '为同事'],
    answer: '请打开设置并选择{what}。常见的问题还有：{other}{other}之后{what}会保留。',
  },
  ko: {
    questions: [
      '{what} 어떻게 {action}하나요?',
      '{place} {what} 어떻게 {action}하나요?',
      '{place} {what} {action}할 수 있나요?',
      '{place} {what} 왜 {action}할 수 없나요?',
      '누가 {place} {what} {action}할 수 있나요?',
    ],
    actions: ['변경', '삭제', '전송', '공유', '인쇄', '복원'],
    things: ['비밀번호를', '청구서를', '주소를', '계약서를', '달력을', '보고서를', '백업을', '계정을'],
    places: ['휴대폰에서', '컴퓨터에서', '브라우저에서', '연결 없이', '동료를 위해'],
    answer: '설정을 열고 {what} 선택하세요. 다음 질문도 있습니다: {other} {other} 그러면 {what} 보관합니다.',
  },
};

export interface GeneratedPair {
  readonly question: string;
  readonly answer: string;
}

/** Returns about 1,000 pairs for each language. Questions are similar to each other, and occur in the answers of others. */
export function generatePairs(): ReadonlyMap<string, readonly GeneratedPair[]> {
  return new Map(Object.entries(phrases).map(([language, of]) => [language, generate(of)]));
}

function generate({ questions, actions, things, places, answer }: Phrases): GeneratedPair[] {
  const asked = questions.flatMap((question) =>
    actions.flatMap((action) =>
      things.flatMap((what) =>
        (question.includes('{place}') ? places : ['']).map((place) => ({
          what,
          question: question.replace('{action}', action).replace('{what}', what).replace('{place}', place),
        })),
      ),
    ),
  );
  return asked.map(({ what, question }, at) => {
    const other = (distance: number) => asked[(at + distance) % asked.length]?.question ?? '';
    const text = answer.replaceAll('{what}', what);
    return { question, answer: text.replace('{other}', other(1)).replace('{other}', other(241)) };
  });
}
