// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"fmt"
	"strings"
)

// Overview returns a line for each command: its name and what it does.
func Overview[C any](specs []Spec[C]) string {
	rows := make([][2]string, len(specs))
	for i, s := range specs {
		rows[i] = [2]string{s.Name, s.Summary}
	}
	return columns(rows)
}

// Help returns the help of the command that words name and of its subcommands, or a *UsageError where there is none.
func Help[C any](specs []Spec[C], words ...string) (string, error) {
	if len(words) == 0 {
		return Overview(specs), nil
	}
	spec, err := Find(specs, words[0])
	if err != nil {
		return "", err
	}
	b := newBinder(spec, Statement{Words: words})
	if b.first < len(words) {
		return "", b.wrong("%s has no help on %q%s", b.out.Command, words[b.first],
			didYouMean(words[b.first], names(b.spec.Subcommands), ""))
	}
	return b.help(), nil
}

func (b *binder[C]) help() string {
	spec := b.spec
	var s strings.Builder
	s.WriteString(strings.TrimSuffix(b.out.Command+": "+spec.Summary, ": ") + "\nusage: " + b.out.usage + "\n")
	if spec.Help != "" {
		fmt.Fprintf(&s, "\n%s\n", strings.TrimRight(spec.Help, "\n"))
	}
	var rows [][2]string
	path := strings.Fields(b.out.Command)
	for i := range spec.Subcommands {
		sub := &spec.Subcommands[i]
		rows = append(rows, [2]string{sub.usage(path, nil), sub.Summary})
	}
	for _, o := range b.options {
		rows = append(rows, [2]string{o.usage(), o.Summary})
	}
	if len(rows) > 0 {
		s.WriteString("\n" + columns(rows))
	}
	if spec.Example != "" {
		fmt.Fprintf(&s, "\nexample: %s\n", spec.Example)
	}
	return s.String()
}

// columns sets rows in two columns; a left cell that is too wide has its right cell on the next line.
func columns(rows [][2]string) string {
	const widest = 32
	width := 0
	for _, r := range rows {
		if len(r[0]) <= widest {
			width = max(width, len(r[0]))
		}
	}
	var s strings.Builder
	for _, r := range rows {
		if len(r[0]) > widest && r[1] != "" {
			fmt.Fprintf(&s, "  %s\n", r[0])
			r[0] = ""
		}
		s.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, r[0], r[1]), " ") + "\n")
	}
	return s.String()
}
