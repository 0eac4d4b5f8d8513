// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// Invocation is a statement that was matched with its command.
type Invocation struct {
	Command string            // the words of the command, such as "show nodes"
	Args    []string          // the positional arguments
	Options map[string]string // by name; a flag that is set has the value "yes"
	Line    int               // of the statement
	Text    string            // of the statement

	usage    string
	defaults map[string]string // declared, by option
}

// Arg returns the argument with index i, or "" if it is missing.
func (v *Invocation) Arg(i int) string {
	if i < len(v.Args) {
		return v.Args[i]
	}
	return ""
}

// Option returns the value of an option. If the option is missing, it returns the declared default. If there is no
// default, it returns the argument otherwise.
func (v *Invocation) Option(name, otherwise string) string {
	if value, ok := v.Options[name]; ok {
		return value
	}
	return cmp.Or(v.defaults[name], otherwise)
}

// Flag reports whether an option was given. An option with the value "no" counts as not given.
func (v *Invocation) Flag(name string) bool {
	_, ok := v.Options[name]
	return ok
}

// Int returns the value of a KindInt option. If the option is missing or not a number, it returns the declared default.
// If there is no default, it returns the argument otherwise.
func (v *Invocation) Int(name string, otherwise int) int {
	for _, value := range []string{v.Options[name], v.defaults[name]} {
		if n, err := strconv.Atoi(value); err == nil {
			return n
		}
	}
	return otherwise
}

// Misused returns a *UsageError that includes the usage. It is for checks that only the command itself can do.
func (v *Invocation) Misused(format string, args ...any) error {
	return &UsageError{v.Command, fmt.Sprintf(format, args...) + "; usage: " + v.usage}
}

// Find returns the command that word names, or a *UsageError if there is none.
func Find[C any](specs []Spec[C], word string) (*Spec[C], error) {
	if i := indexSpec(specs, word); i >= 0 {
		return &specs[i], nil
	}
	if here := Foreign[word]; here != "" {
		return nil, &UsageError{"", fmt.Sprintf("%s is a program of infiniband-diags; here: %s", word, here)}
	}
	near := didYouMean(word, names(specs), "")
	if subs := subcommands(specs, word); len(subs) > 0 {
		near = meant(subs)
	}
	return nil, &UsageError{"", fmt.Sprintf("unknown command %q", word) + near}
}

// subcommands returns the subcommands with a name, as in "show links".
func subcommands[C any](specs []Spec[C], name string) (found []string) {
	for i := range specs {
		if indexSpec(specs[i].Subcommands, name) >= 0 {
			found = append(found, specs[i].Name+" "+name)
		}
	}
	return found
}

// Bind matches a statement with the command spec, which its first word names. It finds the subcommand. Unquoted words
// are options if they are written NAME=VALUE, --NAME=VALUE, --NAME or, for a flag, NAME. The other words are arguments.
// Bind checks the number of arguments, the names of options, and the values that must be certain words or numbers. It
// also returns the Spec of the subcommand. An error is a *UsageError.
func Bind[C any](spec *Spec[C], stmt Statement) (*Spec[C], *Invocation, error) {
	b := newBinder(spec, stmt)
	if err := b.requireSubcommand(); err != nil {
		return nil, nil, err
	}
	for i := b.first; i < len(stmt.Words); i++ {
		var err error
		if o, ok := b.optionAt(i); ok {
			err = b.option(o)
		} else {
			err = b.argument(stmt.Words[i])
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := b.requireArgs(); err != nil {
		return nil, nil, err
	}
	for i := range b.options {
		if o := &b.options[i]; o.Default != "" {
			b.out.defaults[o.Name] = o.Default
		}
	}
	return b.spec, b.out, nil
}

type binder[C any] struct {
	stmt    Statement
	spec    *Spec[C]
	out     *Invocation
	first   int               // index of the first word after the command
	options []Option          // options of the command, then of those above it
	given   map[string]string // options of the statement by name, as they are written
}

// newBinder returns a binder for the subcommand of spec that the words select.
func newBinder[C any](spec *Spec[C], stmt Statement) *binder[C] {
	b := &binder[C]{
		stmt: stmt, given: map[string]string{},
		out: &Invocation{
			Options: map[string]string{}, Line: stmt.Line, Text: stmt.Text, defaults: map[string]string{},
		},
	}
	var path []string
	for b.first = 1; ; b.first++ {
		b.spec = spec
		b.out.usage = spec.usage(path, b.options)
		path = append(path, spec.Name)
		b.options = slices.Concat(spec.Options, b.options)
		next := -1
		if b.first < len(stmt.Words) {
			next = indexSpec(spec.Subcommands, stmt.Words[b.first])
		}
		if next < 0 {
			b.out.Command = strings.Join(path, " ")
			return b
		}
		spec = &spec.Subcommands[next]
	}
}

// requireSubcommand returns an error if a subcommand is required and missing.
func (b *binder[C]) requireSubcommand() error {
	spec := b.spec
	if len(spec.Subcommands) == 0 || len(spec.Args) > 0 {
		return nil
	}
	if _, isOption := b.optionAt(b.first); b.first < len(b.stmt.Words) && !isOption {
		word := b.stmt.Words[b.first]
		return b.wrong("unknown word %q after %s%s", word, b.out.Command,
			didYouMean(word, names(spec.Subcommands), "; usage: "+b.out.usage))
	}
	if spec.Bare {
		return nil
	}
	return b.out.Misused("a subcommand is missing after %s", b.out.Command)
}

func indexSpec[C any](specs []Spec[C], name string) int {
	return slices.IndexFunc(specs, func(s Spec[C]) bool { return s.Name == name || slices.Contains(s.Aliases, name) })
}

// optionWord is a word that has the form of an option.
type optionWord struct {
	dashes   string // "--" or ""
	name     string
	value    string
	hasValue bool
}

// optionAt returns word i as an option. It returns false if the word does not have the form of an option, or is quoted
// before its first '='. The name of the option may be unknown.
func (b *binder[C]) optionAt(i int) (optionWord, bool) {
	if i >= len(b.stmt.Words) || b.stmt.isLiteral(i) {
		return optionWord{}, false
	}
	var o optionWord
	rest, dashed := strings.CutPrefix(b.stmt.Words[i], optionDashes)
	if dashed {
		o.dashes = optionDashes
	}
	o.name, o.value, o.hasValue = strings.Cut(rest, "=")
	known := findOption(b.options, o.name)
	switch {
	case dashed && b.spec.DashArgs:
		return o, known != nil && o.hasValue
	case dashed || o.hasValue:
		return o, isName(o.name)
	}
	return o, known != nil && known.Kind == KindFlag
}

// isName reports whether s is a letter followed by letters, digits, '-' and '_'.
func isName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && r != '_' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

func findOption(options []Option, name string) *Option {
	i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name || slices.Contains(o.Aliases, name) })
	if i < 0 {
		return nil
	}
	return &options[i]
}

func (b *binder[C]) option(word optionWord) error {
	name := word.dashes + word.name
	o := findOption(b.options, word.name)
	if o == nil {
		forms := prose.Words(b.options, func(o Option) string { return word.dashes + o.Name })
		suggestion := didYouMean(name, forms, "; usage: "+b.out.usage)
		return b.wrong("unknown option %q of %s%s", name, b.out.Command, suggestion)
	}
	if before, ok := b.given[o.Name]; ok {
		first := prose.When(before == name, "", fmt.Sprintf(", first as %q", before))
		return b.wrong("option %q of %s is given twice%s", name, b.out.Command, first)
	}
	b.given[o.Name] = name
	value := word.value
	switch {
	case word.hasValue && value == "", !word.hasValue && o.Bare() == "":
		return b.wrong("option %q of %s needs a value: %s%s", name, b.out.Command, optionDashes, o.usage())
	case !word.hasValue:
		value = o.Bare()
	}
	kind, words := o.valueKind()
	if invalid, expected := invalidValue(value, kind, words, o.List); expected != "" {
		return b.wrong("option %q of %s is %q%s", name, b.out.Command, invalid, expected)
	}
	if o.Kind != KindFlag || value == wordYes {
		b.out.Options[o.Name] = value
	}
	return nil
}

// nextArg returns the declaration of the next positional argument, or nil if there is none.
func (b *binder[C]) nextArg() *Arg {
	args, i := b.spec.Args, len(b.out.Args)
	if n := len(args); i >= n && n > 0 && args[n-1].Repeat {
		i = n - 1
	}
	if i >= len(args) {
		return nil
	}
	return &args[i]
}

func (b *binder[C]) argument(word string) error {
	a := b.nextArg()
	if a == nil {
		return b.wrong("unexpected word %q after %s%s", word, b.out.Command,
			didYouMean(word, prose.Words(b.options, Option.form), "; usage: "+b.out.usage))
	}
	if invalid, expected := invalidValue(word, a.Kind, a.Words, a.List); expected != "" {
		before := strings.Join(append([]string{b.out.Command}, b.out.Args...), " ")
		return b.wrong("unexpected word %q after %s%s", invalid, before, expected)
	}
	if word == "" && a.Kind != KindText { // as of an unset variable in a script
		return b.out.Misused("%s is empty", valueName(a.Name, a.Kind, a.Words))
	}
	b.out.Args = append(b.out.Args, word)
	return nil
}

func (b *binder[C]) requireArgs() error {
	args := b.spec.Args
	given := len(b.out.Args)
	// A command with subcommands may be called without arguments if Bare is set.
	if given >= len(args) || args[given].Optional || given == 0 && b.spec.Bare {
		return nil
	}
	a := &args[given]
	return b.out.Misused("%s is missing", valueName(a.Name, a.Kind, a.Words))
}

// invalidValue returns the first invalid value of an argument or option, and the end of the error: the expected values
// or a similar one. The end is "" if all values are valid.
func invalidValue(value string, kind Kind, words []string, list bool) (invalid, expected string) {
	if kind != KindWord && kind != KindInt {
		return "", ""
	}
	values := []string{value}
	if list {
		values = strings.Split(value, ",")
	}
	for _, v := range values {
		if slices.Contains(words, v) {
			continue
		}
		if kind == KindWord {
			return v, didYouMean(v, words, ", expected "+orList(words))
		}
		if _, err := strconv.Atoi(v); err != nil {
			return v, didYouMean(v, words, ", expected "+orList(append([]string{"a whole number"}, words...)))
		}
	}
	return "", ""
}

func (b *binder[C]) wrong(format string, args ...any) error {
	return &UsageError{b.out.Command, fmt.Sprintf(format, args...)}
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// WrittenFile returns the file that the invocation writes, or "" if it writes none.
func (s *Spec[C]) WrittenFile(v *Invocation) string {
	for i, text := range v.Args {
		a := &s.Args[min(i, len(s.Args)-1)]
		if a.Written && text != "-" && !slices.Contains(a.Words, text) {
			return text
		}
	}
	for i := range s.Options {
		if text, given := v.Options[s.Options[i].Name]; given && s.Options[i].Written {
			return text
		}
	}
	return ""
}
