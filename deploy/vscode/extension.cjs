// Starts Portolan's language server for YAML and JSON files.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
  const [command, ...args] = workspace.getConfiguration('portolan').get('command');
  const documentSelector = ['yaml', 'json'].map((language) => ({ scheme: 'file', language }));
  client = new LanguageClient('portolan', 'Portolan', { command, args }, { documentSelector });
  return client.start();
};

exports.deactivate = () => client?.stop();
