declare module '@snyk/github-codeowners/dist/lib/ownership/OwnershipEngine.js' {
  export class OwnershipEngine {
    static FromCodeownersFile(path: string): OwnershipEngine;
    calcFileOwnership(path: string): readonly string[];
  }
}
