// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

func TestCompletions(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{""}, "shell"}, {[]string{""}, "trace"}, {[]string{"--"}, "--theme"}, {[]string{"show", "l"}, "links"},
		{[]string{"trace", "--"}, "--against"}, {[]string{"-s", "sim:f"}, "sim:fattree:"},
		{[]string{"-s", "n"}, "net:"}, {[]string{"--theme", ""}, "contrast"},
		{[]string{"help", "tr"}, "trace"}, {[]string{"-s", "sim:fattree:2,4", "sh"}, "shell"},
		{[]string{"completion", "z"}, "zsh"}, {[]string{"trace", "a", "b", "f"}, "file="},
		{[]string{"trace", "a", "b", "format="}, "format=ibtracert"}, {[]string{"trace", "--format="}, "ibtracert"},
		{[]string{"engine", "up"}, "updn"}, {[]string{"record", "st"}, "status"},
		{[]string{"record", "met"}, "metrics="},
	} {
		got := ibconsole(t, append([]string{"__complete"}, c.words...)...)
		got, _, _ = strings.Cut("\n"+got, "\n:") // the directive follows
		if !strings.Contains(got+"\n", "\n"+c.want+"\t") && !strings.Contains(got+"\n", "\n"+c.want+"\n") {
			t.Errorf("%q: %q, want %s among them", c.words, got, c.want)
		}
		for line := range strings.Lines(strings.TrimPrefix(got, "\n")) {
			last := c.words[len(c.words)-1]
			if _, value, isFlag := strings.Cut(last, "="); isFlag && strings.HasPrefix(last, "--") {
				last = value
			}
			if !strings.HasPrefix(line, last) {
				t.Errorf("%q offers %q", c.words, line)
			}
		}
	}
}

// scripts returns a directory with the completion scripts, by shell, and an ibconsole that returns the completions of
// the program after -s sim:fa.
func scripts(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"bash", "zsh", "fish"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(ibconsole(t, "completion", name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answer := filepath.Join(dir, "answer")
	if err := os.WriteFile(answer, []byte(ibconsole(t, "__complete", "-s", "sim:fa")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ibconsole"), []byte("#!/bin/sh\ncat "+answer+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBashCompletes makes bash complete words with the script, with the program of this test under its own name.
func TestBashCompletes(t *testing.T) {
	bash := testenv.Tool(t, "bash")
	dir := scripts(t)
	cmd := exec.Command(bash, "--norc", "-c", "source /usr/share/bash-completion/bash_completion\nsource "+
		filepath.Join(dir, "bash")+
		"\nCOMP_WORDS=(ibconsole -s sim : fa) COMP_CWORD=4 COMP_LINE='ibconsole -s sim:fa' COMP_POINT=19 "+
		"COMP_TYPE=9\n__start_ibconsole 2>/dev/null\necho \"${COMPREPLY[*]}\"")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "fattree:" {
		t.Errorf("bash completes %q, %v", out, err)
	}
}

// TestCompletionLoads loads the scripts in zsh and fish, and completes a word in fish.
func TestCompletionLoads(t *testing.T) {
	dir := scripts(t)
	for _, c := range []struct{ shell, flag, text, want string }{
		{"zsh", "-f", "autoload -Uz compinit && compinit -u -D && source %s && print $_comps[ibconsole]", "_ibconsole"},
		{"fish", "--no-config", "source %s; complete -C 'ibconsole -s sim:fa'", "sim:fattree:"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			path := testenv.Tool(t, c.shell)
			cmd := exec.Command(path, c.flag, "-c", fmt.Sprintf(c.text, filepath.Join(dir, c.shell)))
			cmd.Env = append(os.Environ(), "HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%q, %v, expected %q", out, err, c.want)
			}
		})
	}
}

// TestManPage checks that the formatter of man accepts the page without a warning.
func TestManPage(t *testing.T) {
	page := ibconsole(t, "man")
	for _, want := range []string{".TH IBCONSOLE 1", "\\-\\-theme", ".B trace", "IBCONSOLE_SOURCE", "net:FILE"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	groff := testenv.Tool(t, "groff")
	cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v: %s", err, out)
	}
}
