// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// Overview returns a line for each command, with its name and summary. Consecutive commands of one group stand under a
// common heading.
func Overview[C any](specs []Spec[C]) string {
	var s strings.Builder
	width := 0
	for i := range specs {
		width = max(width, len(specs[i].Name))
	}
	group := ""
	for i := range specs {
		spec := &specs[i]
		if spec.Group != group {
			group = spec.Group
			s.WriteString(prose.When(i > 0, "\n", "") + group + ":\n")
		}
		writeRow(&s, width, spec.Name, spec.Summary)
	}
	return s.String()
}

// Help returns the help of the command that words begin with, or a *UsageError where there is none. Other words may be
// options and arguments of the command.
func Help[C any](specs []Spec[C], words ...string) (string, error) {
	if len(words) == 0 {
		return Overview(specs), nil
	}
	spec, err := Find(specs, words[0])
	if err != nil {
		return "", err
	}
	b := newBinder(spec, Statement{Words: words})
	for _, word := range words[b.first:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, optionDashes), "=")
		if findOption(b.options, name) == nil && b.argument(word) != nil {
			candidates := names(b.spec.Subcommands)
			if a := b.nextArg(); a != nil {
				candidates = append(candidates, a.Words...)
			}
			return "", b.wrong("%s has no help on %q%s", b.out.Command, word,
				didYouMean(word, candidates, "; usage: "+b.out.usage))
		}
	}
	return b.help(), nil
}

func (b *binder[C]) help() string {
	spec := b.spec
	first, rest := spec.Summary[:min(1, len(spec.Summary))], spec.Summary[min(1, len(spec.Summary)):]
	var s strings.Builder
	s.WriteString(strings.TrimSuffix(b.out.Command+": "+strings.ToLower(first)+rest, ": ") +
		"\n\nusage: " + b.out.usage + "\n")
	if spec.Help != "" {
		fmt.Fprintf(&s, "\n%s\n", strings.TrimRight(spec.Help, "\n"))
	}
	var subcommands, options [][2]string
	path := strings.Fields(b.out.Command)
	for i := range spec.Subcommands {
		sub := &spec.Subcommands[i]
		subcommands = append(subcommands, [2]string{sub.usage(path, nil), sub.Summary})
	}
	for _, o := range b.options {
		options = append(options, [2]string{optionDashes + o.usage(), o.help()})
	}
	writeRows(&s, "subcommands", subcommands)
	writeRows(&s, "options", options)
	if examples := spec.examples(); len(examples) > 0 {
		s.WriteString("\nexamples:\n")
		for _, e := range examples {
			fmt.Fprintf(&s, "  %s\n", e)
		}
	}
	return s.String()
}

// examples returns the examples of the command. If it has none, it returns two of its subcommands, of different ones if
// possible.
func (s *Spec[C]) examples() []string {
	examples := slices.Clone(s.Examples)
	for nth, more := 0, len(examples) == 0; more; nth++ {
		more = false
		for i := range s.Subcommands {
			if all := s.Subcommands[i].examples(); nth < len(all) && len(examples) < 2 {
				examples = append(examples, all[nth])
				more = true
			}
		}
	}
	return examples
}

// help returns the summary of the option with its default.
func (o *Option) help() string {
	if o.Default == "" {
		return o.Summary
	}
	return fmt.Sprintf("%s (default %s)", o.Summary, o.Default)
}

// writeRows writes rows of two cells, below a heading.
func writeRows(s *strings.Builder, heading string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	const widest = 32
	width := 0
	for _, r := range rows {
		if len(r[0]) <= widest {
			width = max(width, len(r[0]))
		}
	}
	fmt.Fprintf(s, "\n%s:\n", heading)
	for _, r := range rows {
		writeRow(s, width, r[0], r[1])
	}
}

// writeRow writes two cells. If the left cell is wider than the argument width, the right cell is on the next line.
func writeRow(s *strings.Builder, width int, left, right string) {
	if len(left) > width && right != "" {
		fmt.Fprintf(s, "  %s\n", left)
		left = ""
	}
	s.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, left, right), " ") + "\n")
}
