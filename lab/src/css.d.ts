// The page's styles, as the bundler hands them over: TypeScript knows them as text.
declare module "*.css";
