// Styles: TypeScript accepts the import, which the bundler follows.
declare module "*.css";
