// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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
		{[]string{"record", "met"}, "metrics="}, {[]string{"schema", "resil"}, "resilience"},
		{[]string{"-s", "sim:fattree:2,4", "fail", "link", "leaf-01", ""}, "3"},
		{[]string{"-s", "sim:fattree:2,4", "who", "uses", "leaf-01/"}, "leaf-01/4"},
		{[]string{"check", "reach", "of="}, "of=staged"}, {[]string{"check", "reach", "--of", ""}, "whatif"},
		{[]string{"-s", "sim:fattree:2,4", "-s", "b=sim:torus:3x3", "on", ""}, "b"},
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

// shellCompletions are command lines whose last word real shells complete, with the word that they offer.
var shellCompletions = []struct{ line, begun, want string }{
	{"ibconsole -s", "sim:fa", "sim:fattree:"},
	{"ibconsole -s", "file:./sub", "file:./subnet.net"},
	{"ibconsole -s sim:fattree:2,4 trace node-0001", "spine-02", "spine-02"},
	{"ibconsole -s sim:fattree:2,4 fail link", "spine-0", "spine-01"},
	{"ibconsole -s file:subnet.net trace", "on", "only-node"},
	{"ibconsole engine", "torus-", "torus-2QoS"},
	{"ibconsole trace a b", "format=ib", "format=ibtracert"},
	{"ibconsole --fail-on", "w", "warning"},
	{"ibconsole run", "sub", "subnet.net"},
	{"ibconsole names", "sub", "subnet.net"},
	{"ibconsole load lfts", "sub", "subnet.net"},
	{"ibconsole engine updn", "root_guid_file=sub", "root_guid_file=subnet.net"},
	{"ibconsole -s sim:fattree:2,4 trace", "node-0001", "node-0001 HCA-1"},
	{"ibconsole -s sim:fattree:2,4 -s b=sim:fattree:2,6 on b show", "li", "links"},
	{"ibconsole -s sim:fattree:2,4 -s b=sim:fattree:2,6 on b fail switch", "leaf-06", "leaf-06"},
	{"ibconsole -s", "b=sim:fa", "b=sim:fattree:"},
	{"ibconsole help show", "li", "links"},
}

const completedSubnet = `Switch	4 "S-0000000000200000"		# "leaf" base port 0 lid 1 lmc 0
[1]	"H-0000000000100000"[1](100001) 		# "only-node" lid 2 4xHDR

Ca	1 "H-0000000000100000"		# "only-node"
[1](100001) 	"S-0000000000200000"[1]		# lid 2 lmc 0 "leaf" lid 1 4xHDR
`

// completed returns what a shell prints that runs a text in a folder with a subnet, and has the program and the
// completion script of the shell in the folder bin.
func completed(t *testing.T, shell string, text func(bin string) []string) string {
	t.Helper()
	path, dir := testenv.Tool(t, shell), t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(bin, "ibconsole")); err != nil {
		t.Fatal(err)
	}
	script := ibconsole(t, "completion", shell)
	for name, text := range map[string]string{"subnet.net": completedSubnet, "bin/script": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, text(bin)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// offers fails if the lines of an output lack the words that a shell must offer. The output has a line for each command
// line: its number and what the shell offers.
func offers(t *testing.T, out string) {
	t.Helper()
	out = strings.ReplaceAll(out, `\`, "") // before blanks
	for i, c := range shellCompletions {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^%d: (.* )?%s( .*)?$`, i, regexp.QuoteMeta(c.want))).MatchString(out) {
			t.Errorf("%s %s: %q is not offered in\n%s", c.line, c.begun, c.want, out)
		}
	}
}

// TestBashCompletes makes bash complete words with the script of the program. bash splits words at colons and equal
// signs, and replaces the last part only.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	offers(t, completed(t, "bash", func(bin string) []string {
		text := "source /usr/share/bash-completion/bash_completion\nsource " + bin + "/script\n"
		for i, c := range shellCompletions {
			line := c.line + " " + c.begun
			words := regexp.MustCompile(`[:=]|[^ :=]+`).FindAllString(line, -1)
			part := regexp.MustCompile(`.*[:=]`).FindString(c.begun)
			text += fmt.Sprintf("COMP_WORDS=(%s) COMP_CWORD=%d COMP_LINE='%s' COMP_POINT=%d\n"+
				"COMP_TYPE=9; COMPREPLY=()\n__start_ibconsole 2>/dev/null\n"+
				"[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- '%s'))\n"+ // as complete -o default
				"echo \"%d: ${COMPREPLY[*]/#/%s}\"\n",
				strings.Join(words, " "), len(words)-1, line, len(line), c.begun, i, part)
		}
		return []string{"--norc", "-c", text}
	}))
}

// TestFishCompletes makes fish complete words.
func TestFishCompletes(t *testing.T) {
	t.Parallel()
	offers(t, completed(t, "fish", func(bin string) []string {
		text := "source " + bin + "/script\n"
		for i, c := range shellCompletions {
			text += fmt.Sprintf("echo '%d:' (complete -C '%s %s' | string replace -r '\\t.*' '')\n", i, c.line, c.begun)
		}
		return []string{"--no-config", "-c", text}
	}))
}

// TestZshCompletes makes an interactive zsh complete words, and reads the command line after the key Tab.
func TestZshCompletes(t *testing.T) {
	t.Parallel()
	offers(t, completed(t, "zsh", func(bin string) []string {
		setup := "autoload -Uz compinit; compinit -u -D; source " + bin + "/script\n" +
			"setopt menu_complete; unsetopt beep\n" +
			"report() { print -r -- \"line<$BUFFER>\"; zle send-break }; zle -N report; bindkey ^G report\n"
		if err := os.WriteFile(filepath.Join(bin, "setup"), []byte(setup), 0o600); err != nil {
			t.Fatal(err)
		}
		text := "zmodload zsh/zpty\nzpty z zsh -f -i\nzpty -w z 'source " + bin + "/setup'\n"
		for i, c := range shellCompletions {
			text += fmt.Sprintf("zpty -w -n z '%s %s'$'\\t\\a'\nzpty -r z got '*line<*>*'\n"+
				"print -r -- \"%d: ${${got##*line<}%%%%>*}\"\n", c.line, c.begun, i)
		}
		return []string{"-f", "-c", text + "zpty -d z\n"}
	}))
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
