/** Bounds of the attachments of a mail, together with those of the mails that are attached to it. */
export const attachmentLimits = {
  /** Attachments of a mail. */
  count: 100,
  /** Mails in mails. */
  depth: 3,
  /** Warnings of one attachment in the report. */
  warnings: 5,
};
