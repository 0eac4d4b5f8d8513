// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"slices"
	"strings"
)

// Candidate is a completion of a word.
type Candidate struct {
	Text        string // from Env: the whole word without quoting; from Complete: the text for the line
	Description string // one line
}

// Ask is a request of Complete to its Env.
type Ask struct {
	Kind    Kind
	Prefix  string   // the word so far, without quoting; candidates begin with it
	Command string   // such as "fail link"
	Args    []string // the arguments before the word
}

// Env completes names. It is called at every key press, and may omit candidates if there are many.
type Env interface {
	Candidates(Ask) []Candidate
}

// Complete returns the completions of the word that ends at cursor, a byte offset into line. Candidates are commands,
// subcommands, options, values and the names of env. The text of a candidate replaces line[start:cursor]. It is quoted
// if necessary, in the same style as the line. Complete uses the last statement before the cursor. env may be nil.
func Complete[C any](specs []Spec[C], line string, cursor int, env Env) (start int, candidates []Candidate) {
	text := line[:min(max(cursor, 0), len(line))]
	stmt, word, ok := lastStatement(text)
	if !ok {
		return len(text), nil
	}
	c := completion[C]{env: env, raw: text[word.start:], start: word.start, word: word}
	if len(stmt.Words) == 0 {
		c.specs(specs)
		return c.start, c.candidates
	}
	if i := indexSpec(specs, stmt.Words[0]); i >= 0 {
		c.of(newBinder(&specs[i], stmt))
	}
	return c.start, c.candidates
}

// Past returns the first words of the last statement of a text, and the byte offset after these words. ok is false if
// the statement has fewer words.
func Past(text string, words int) (offset int, before []string, ok bool) {
	var stmt Statement
	l := newLexer(text)
	for {
		t := l.next()
		switch {
		case t.kind == tokenSeparator:
			stmt, ok = Statement{}, false
		case t.kind != tokenWord:
			return offset, before, ok
		case t.end == len(text):
			return offset, before, ok
		default:
			if stmt.add(t); len(stmt.Words) == words {
				offset, before, ok = t.end, stmt.Words, true
			}
		}
	}
}

// lastStatement returns the last statement of text, and separately the word at its end, which may be empty. It returns
// false if text ends in a comment.
func lastStatement(text string) (Statement, token, bool) {
	var stmt Statement
	l := newLexer(text)
	for {
		t := l.next()
		switch {
		case t.kind == tokenSeparator:
			stmt = Statement{}
		case t.kind == tokenEnd:
			return stmt, t, true
		case t.kind == tokenComment || t.end == len(text):
			return stmt, t, t.kind == tokenWord
		default:
			stmt.add(t)
		}
	}
}

type completion[C any] struct {
	env        Env
	binder     *binder[C]
	word       token  // the word so far
	raw        string // the part of the word, as written, that candidates replace
	start      int    // offset of raw
	candidates []Candidate
}

func (c *completion[C]) specs(specs []Spec[C]) {
	for _, s := range specs {
		c.offer(s.Name, s.Summary, KindWord)
	}
}

// of completes a word of the command of b.
func (c *completion[C]) of(b *binder[C]) {
	c.binder = b
	for i := b.first; i < len(b.stmt.Words); i++ {
		word, isOption := b.optionAt(i)
		switch o := findOption(b.options, word.name); {
		case !isOption:
			b.out.Args = append(b.out.Args, b.stmt.Words[i])
		case o != nil:
			b.given[o.Name] = word.name
		}
	}
	if name, value, found := strings.Cut(c.word.value, "="); found && !c.word.literal {
		o := findOption(b.options, strings.TrimPrefix(name, optionDashes))
		if o != nil && strings.HasPrefix(c.raw, name+"=") {
			c.skip(len(name) + 1)
			c.word.value = value
			kind, words := o.valueKind()
			c.values(kind, words, o.List)
		}
		return
	}
	if len(b.out.Args) == 0 {
		c.specs(b.spec.Subcommands)
	}
	if a := b.nextArg(); a != nil {
		at := *c
		at.candidates = nil
		at.values(a.Kind, a.Words, a.List)
		// After a comma, the word is a value of a list: it cannot be an option, and its offset differs.
		if at.start != c.start {
			*c = at
			return
		}
		c.candidates = append(c.candidates, at.candidates...)
	}
	c.options()
}

// skip removes the first n bytes of the word from the part that a candidate replaces.
func (c *completion[C]) skip(n int) {
	c.raw, c.start = c.raw[n:], c.start+n
}

func (c *completion[C]) options() {
	isDashed := strings.HasPrefix(c.word.value, "-")
	if c.word.literal || isDashed && c.binder.spec.DashArgs {
		return
	}
	dashes := ""
	if isDashed {
		dashes = optionDashes
	}
	for _, o := range c.binder.options {
		text := dashes + o.form()
		if _, given := c.binder.given[o.Name]; strings.HasPrefix(text, c.word.value) && !given {
			c.candidates = append(c.candidates, Candidate{text, o.Summary})
		}
	}
}

// values adds the completions of a value.
func (c *completion[C]) values(kind Kind, words []string, list bool) {
	before := ""
	if i := strings.LastIndexByte(c.word.value, ','); list && i >= 0 {
		before = c.word.value[:i+1]
		if c.unquoted() {
			c.skip(i + 1)
			c.word.value, before = c.word.value[i+1:], ""
		}
	}
	for _, w := range words {
		c.offer(before+w, "", KindWord)
	}
	if c.env == nil || kind == KindWord {
		return
	}
	ask := Ask{kind, c.word.value[len(before):], c.binder.out.Command, c.binder.out.Args}
	for _, candidate := range c.env.Candidates(ask) {
		c.offer(before+candidate.Text, candidate.Description, kind)
	}
}

// unquoted reports whether the word contains no quoting.
func (c *completion[C]) unquoted() bool { return c.raw == c.word.value }

// offer adds a candidate if its value begins with the word typed so far.
func (c *completion[C]) offer(value, description string, kind Kind) {
	rest, ok := strings.CutPrefix(value, c.word.value)
	if !ok {
		return
	}
	folder := kind == KindFile && strings.HasSuffix(value, "/")
	text := ""
	switch {
	case !c.unquoted():
		text = c.raw + c.quoteRest(rest, folder)
		if c.word.open == quoteBackslash {
			text = c.raw[:len(c.raw)-1] + c.quoteRest(rest, folder)
		}
	case kind != KindWord && c.isOption(value):
		text = "'" + value + "'"
	case c.binder != nil && c.binder.spec.DashArgs && isName(strings.TrimLeft(value, "-")):
		text = value
	default:
		text = Quote(value)
		if folder && text != value {
			text = text[:len(text)-1]
		}
	}
	c.candidates = append(c.candidates, Candidate{text, description})
}

// isOption reports whether the unquoted word value would be read as a flag.
func (c *completion[C]) isOption(value string) bool {
	return c.binder != nil &&
		slices.ContainsFunc(c.binder.options, func(o Option) bool { return o.Kind == KindFlag && o.Name == value })
}

// quoteRest quotes the rest of a word. If the word is a folder, the quotes stay open for a file in the folder.
func (c *completion[C]) quoteRest(rest string, folder bool) string {
	closing := string(rune(c.word.open))
	if folder {
		closing = ""
	}
	switch c.word.open {
	case quoteSingle:
		return strings.ReplaceAll(rest, "'", `'\''`) + closing
	case quoteDouble:
		return escapeDouble(rest) + closing
	}
	if rest == "" {
		return ""
	}
	return Quote(rest)
}
