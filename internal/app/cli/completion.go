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
			words := values()
			if name == "source" {
				words = slices.Concat(words, adapters(), sourcePaths(begun))
			}
			return begunBy(words, begun), directive
		}) // fails for an unknown flag alone
	}
}

// completeArguments returns the function that completes the words of a command of the shell.
func (o *options) completeArguments(path []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		var line strings.Builder
		for _, word := range slices.Concat(path, args) {
			if strings.ContainsAny(word, " \t\n;'\"\\#") {
				word = lang.Quote(word)
			}
			line.WriteString(word + " ")
		}
		first := line.Len()
		line.WriteString(begun)
		names := &names{options: o}
		start, candidates := lang.Complete(shell.New(nil).Specs(), line.String(), line.Len(), names)
		directive := cobra.ShellCompDirectiveNoFileComp
		if names.files {
			directive = cobra.ShellCompDirectiveDefault
		}
		var out []string
		for _, c := range candidates {
			isSubcommand := func(sub *cobra.Command) bool { return sub.Name() == c.Text }
			if slices.ContainsFunc(cmd.Commands(), isSubcommand) {
				continue // cobra offers it
			}
			if strings.HasSuffix(c.Text, "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			out = append(out, cobra.CompletionWithDesc(line.String()[first:max(first, start)]+c.Text, c.Description))
		}
		return out, directive
	}
}

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

// ofSubnet returns names of nodes and ports of the first source, or nil if it is live or not read in time.
func (n *names) ofSubnet(ask lang.Ask) []lang.Candidate {
	ctx, cancel := context.WithTimeout(context.Background(), longestCompletion)
	defer cancel()
	config, sources := n.given(ctx)
	if len(sources) == 0 || sources[0].Source.Live() {
		return nil
	}
	s, err := session.Open(ctx, sources[0].Source, session.Options{Names: config.Names})
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

// completeCommands completes the first word as a command of the shell.
func completeCommands(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return begunBy(shellWords(), begun), cobra.ShellCompDirectiveNoFileComp
}

// fileSources lists the kinds of sources that have a path.
var fileSources = []source.Kind{source.File, source.Net, source.Ibdiagnet, source.Sim}

// sourcePaths returns the completions of the path in a source such as file:PATH.
func sourcePaths(begun string) (out []string) {
	kind, path, _ := strings.Cut(begun, ":")
	if !slices.Contains(fileSources, source.Kind(kind)) {
		return nil
	}
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
		out = append(out, kind+":"+dir+name)
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
func shellWords() []string {
	var out []string
	for _, s := range shell.New(nil).Specs() {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.Summary))
	}
	return out
}

// begunBy returns the words with a prefix.
func begunBy(words []string, begun string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) })
}
