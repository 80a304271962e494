/**
 * An error that the operator can correct: a setting, a permission, a port, the database. Its message is a sentence with the remedy, so
 * the log has no stack of it. Any other error that ends the service is a defect and is logged with its stack.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
  }
}
