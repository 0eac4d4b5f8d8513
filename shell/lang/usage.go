// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
)

// UsageError is returned for a statement that does not match its command, in contrast to the error of a command that
// failed.
type UsageError struct {
	Command string // the words of the command; empty if it is unknown
	Reason  string // one line, which may contain words as typed
}

// Error returns the reason, escaped.
func (e *UsageError) Error() string { return plain.EscapeLine(e.Reason) }

// PlaceError is an error of a statement, with its place in a script.
type PlaceError struct {
	Name string // of the script
	Line int    // counted from 1
	Err  error
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("%s:%d: %v", plain.EscapeLine(e.Name), e.Line, e.Err)
}

func (e *PlaceError) Unwrap() error { return e.Err }

// IsUsage reports whether err is or wraps a *UsageError or a *SyntaxError.
func IsUsage(err error) bool {
	var usage *UsageError
	var syntax *SyntaxError
	return errors.As(err, &usage) || errors.As(err, &syntax)
}

// maxUsage is the maximum width of a usage, in bytes. In a longer usage, the word OPTIONS replaces the options.
const maxUsage = 110

// usage returns one line with the arguments and options of the command, such as "trace SRC DST [live]
// [format=ibtracert]". For a subcommand, the argument path holds the commands above it, and the argument inherited
// holds the options of these commands.
func (s *Spec[C]) usage(path []string, inherited []Option) string {
	words := append(slices.Clone(path), s.Name)
	if len(s.Subcommands) > 0 && len(s.Args) == 0 {
		names := strings.Join(names(s.Subcommands), "|")
		if s.Bare {
			names = "[" + names + "]"
		}
		words = append(words, names)
	}
	for _, a := range s.Args {
		words = append(words, a.usage())
	}
	usage := strings.Join(words, " ")
	for _, o := range slices.Concat(s.Options, inherited) {
		words = append(words, "["+o.usage()+"]")
	}
	withOptions := strings.Join(words, " ")
	if len(withOptions) > maxUsage {
		return usage + " [OPTIONS]"
	}
	return withOptions
}

func (a *Arg) usage() string {
	name := valueName(a.Name, a.Kind, a.Words)
	if a.List {
		name += "[,...]"
	}
	if a.Repeat {
		name += " ..."
	}
	if a.Optional {
		name = "[" + name + "]"
	}
	return name
}

func (o *Option) usage() string {
	if o.Kind == KindFlag {
		return o.Name
	}
	value := valueName(o.Value, o.Kind, o.Words)
	if o.List {
		value += "[,...]"
	}
	return o.Name + "=" + value
}

// form returns the beginning of the option in a line: NAME for a flag, NAME= for other options.
func (o Option) form() string {
	if o.Kind == KindFlag {
		return o.Name
	}
	return o.Name + "="
}

func valueName(name string, kind Kind, words []string) string {
	switch {
	case name != "":
		return name
	case kind == KindWord:
		return strings.Join(words, "|")
	}
	return strings.Join(append([]string{kind.String()}, words...), "|")
}

func names[C any](specs []Spec[C]) []string {
	return prose.Words(specs, func(s Spec[C]) string { return s.Name })
}

// didYouMean returns `: did you mean "x"?`, or `"x" or "y"?` if the word begins several candidates. It returns the
// argument other if no candidate is similar.
func didYouMean(word string, candidates []string, other string) string {
	near := prose.Near(word, candidates)
	if len(near) == 0 {
		return other
	}
	return meant(near)
}

func meant(names []string) string {
	return ": did you mean " + orList(prose.Words(names, strconv.Quote)) + "?"
}
