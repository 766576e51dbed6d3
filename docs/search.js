// The search takes each word of a question for the beginning of a word: "how do I install" finds whatever has a word that begins with "i".
// Here a question loses the words that say nothing, and a whole word counts more than the beginning of another.
const EMPTY = new Set(
  ("a an and are as at be between by can do does for from get have how i if in into is it make me my need of on one or own " +
    "should than that the their this to use using vs want what when where who why with you your").split(" "),
);
const QUERY = 2; // the theme's number for a message with a query
const WHOLE = 20; // how much more a whole word counts

const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  if (message?.type === QUERY && /^[\w.\s/-]+\??$/.test(message.data)) {
    const every = message.data.replace("?", "").trim().split(/\s+/);
    const words = every.filter((word) => !EMPTY.has(word.toLowerCase()));
    if (every.length > 1 && words.length > 0) {
      message = { ...message, data: words.flatMap((word) => [`${word}^${WHOLE}`, word]).join(" ") };
    }
  }
  return post.call(this, message, ...rest);
};
