// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
)

// completeFlags sets the completions of the values of flags.
func (o *options) completeFlags(root *cobra.Command) {
	for name, values := range map[string]func() []string{
		"source": sourceWords, "command": shellWords, "theme": func() []string { return draw.Themes },
		"fail-on": func() []string { return shell.FailOns },
		"table":   func() []string { return nil }, "window": func() []string { return nil },
		"output": func() []string { return []string{"text", "json", "csv", "md", "html"} },
	} {
		_ = root.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, begun string) ([]string,
			cobra.ShellCompDirective) {
			directive := cobra.ShellCompDirectiveNoFileComp
			if name == "source" {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			if name != "source" {
				return begunBy(values(), begun), directive
			}
			of, text, named := strings.Cut(begun, "=")
			if !named || strings.Contains(of, ":") {
				of, text = "", begun
			} else {
				of += "="
			}
			words := slices.Concat(values(), adapters(), sourcePaths(text))
			return prose.Words(begunBy(words, text), func(w string) string { return of + w }), directive
		}) // fails for an unknown flag alone
	}
}

// completeArguments returns the function that completes the words of a command of the shell.
func (o *options) completeArguments(path []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		first, line := commandLine(slices.Concat(path, args), begun)
		names := &names{options: o}
		start, candidates := lang.Complete(shell.New(nil).Specs(), line, len(line), names)
		directive := cobra.ShellCompDirectiveNoFileComp
		option, value, isOption := strings.Cut(begun, "=")
		var out []string
		switch {
		case names.files && isOption: // shells do not complete files after a prefix
			directive |= cobra.ShellCompDirectiveNoSpace
			out = paths(option+"=", value)
		case names.files:
			directive = cobra.ShellCompDirectiveDefault
		}
		for _, c := range candidates {
			stmts, err := lang.Parse("", line[first:max(first, start)]+c.Text) // the shell quotes the word
			if err != nil || len(stmts) != 1 {
				continue
			}
			word := stmts[0].Words[0]
			isSubcommand := func(sub *cobra.Command) bool { return sub.Name() == word }
			if slices.ContainsFunc(cmd.Commands(), isSubcommand) {
				continue // cobra offers it
			}
			if strings.HasSuffix(word, "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			out = append(out, cobra.CompletionWithDesc(word, c.Description))
		}
		return out, directive
	}
}

// commandLine returns the line of a command with its words and the beginning of a word, and the offset of this word. A
// quote in the beginning stays open.
func commandLine(words []string, begun string) (first int, line string) {
	for _, word := range words {
		if strings.ContainsAny(word, quotedRunes) {
			word = lang.Quote(word)
		}
		line += word + " "
	}
	first = len(line)
	if at := strings.IndexAny(begun, quotedRunes); at >= 0 {
		at = strings.LastIndexByte(begun[:at], '=') + 1
		begun = begun[:at] + "'" + strings.ReplaceAll(begun[at:], "'", `'\''`)
	}
	return first, line + begun
}

// quotedRunes have a meaning in a command line.
const quotedRunes = " \t\n;'\"\\#"

// names completes names without a running console. Names of nodes come from the source of the command line, unless that
// is a live subnet: completion sends no packets.
type names struct {
	*options
	files bool // the word may be a file
}

// Candidates implements [lang.Env].
func (n *names) Candidates(ask lang.Ask) (all []lang.Candidate) {
	var words []string
	switch ask.Kind {
	case lang.KindFile:
		n.files = true
	case lang.KindEngine:
		words = append(settings.EngineNames(), settings.VendorEngines()...)
	case lang.KindPicture:
		words = feature.StateNames()
	case lang.KindCommand:
		words = prose.Words(shell.New(nil).Specs(), func(s shell.Spec) string { return s.Name })
	case lang.KindSubnet:
		_, sources := n.given(context.Background())
		words = append(prose.Words(sources, func(s source.Named) string { return s.Name }), source.AllSubnets)
	case lang.KindNode, lang.KindSwitch, lang.KindPort, lang.KindPlace:
		return n.ofSubnet(ask)
	}
	for _, word := range words {
		all = append(all, lang.Candidate{Text: word})
	}
	return all
}

// longestCompletion is the maximum time to read a subnet for completion.
const longestCompletion = 2 * time.Second

// ofSubnet returns names of nodes and ports of the source that "on" names, otherwise of the first source. It returns
// nil if the source is live or not read in time.
func (n *names) ofSubnet(ask lang.Ask) []lang.Candidate {
	ctx, cancel := context.WithTimeout(context.Background(), longestCompletion)
	defer cancel()
	config, sources := n.given(ctx)
	if len(sources) == 0 {
		return nil
	}
	of := max(slices.IndexFunc(sources, func(s source.Named) bool { return s.Name == n.on }), 0)
	if sources[of].Source.Live() {
		return nil
	}
	s, err := session.Open(ctx, sources[of].Source, session.Options{Names: config.Names})
	if err != nil {
		return nil
	}
	defer s.Close()
	if err := s.Start(ctx); err != nil {
		return nil
	}
	return shell.New(s).Names().Candidates(ask)
}

// given returns the configuration, and the sources of the command line or the default source.
func (o *options) given(ctx context.Context) (c config, all []source.Named) {
	c, err := o.config(ctx)
	if err != nil {
		return c, nil
	}
	var texts []string
	for _, text := range o.sources { // cobra parses the flags twice
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		text, _ := c.from(o.rights.held)
		texts = []string{text}
	}
	all, err = source.ParseAll(texts, c.Sets)
	if err != nil {
		return c, nil
	}
	return c, all
}

// completeValue returns the function that completes the value of an option.
func (o *options) completeValue(option *lang.Option) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		names := &names{options: o}
		words := begunBy(option.Choices(), begun)
		for _, c := range names.Candidates(lang.Ask{Kind: option.Kind, Prefix: begun}) {
			words = append(words, begunBy([]string{cobra.CompletionWithDesc(c.Text, c.Description)}, begun)...)
		}
		if names.files {
			return words, cobra.ShellCompDirectiveDefault
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCommands completes the words of a command of the shell and its subcommands.
func completeCommands(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	specs := shell.New(nil).Specs()
	for _, word := range args {
		spec, err := lang.Find(specs, word)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		specs = spec.Subcommands
	}
	return begunBy(commandWords(specs), begun), cobra.ShellCompDirectiveNoFileComp
}

// fileSources lists the kinds of sources that have a path.
var fileSources = []source.Kind{source.File, source.Net, source.Ibdiagnet, source.Sim}

// sourcePaths returns the completions of the path in a source such as file:PATH.
func sourcePaths(begun string) []string {
	kind, path, _ := strings.Cut(begun, ":")
	if !slices.Contains(fileSources, source.Kind(kind)) {
		return nil
	}
	return paths(kind+":", path)
}

// paths returns the completions of a path, each after the text before.
func paths(before, path string) (out []string) {
	dir, start := filepath.Split(path)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, start) || name[0] == '.' && start == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			name += "/"
		}
		out = append(out, before+dir+name)
	}
	return out
}

// adapters returns the InfiniBand ports of this machine as sources.
func adapters() (out []string) {
	ports, _ := umad.Ports("/")
	for _, p := range ports {
		out = append(out, fmt.Sprintf("%s:%s:%d", source.Umad, p.CA, p.Number))
	}
	return out
}

// shellWords returns the commands of the shell for completion.
func shellWords() []string { return commandWords(shell.New(nil).Specs()) }

// commandWords returns the names of commands for completion.
func commandWords(specs []shell.Spec) []string {
	var out []string
	for _, s := range specs {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.Summary))
	}
	return out
}

// begunBy returns the words with a prefix.
func begunBy(words []string, begun string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) })
}
