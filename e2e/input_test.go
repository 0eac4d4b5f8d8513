// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const inputSubnet = "sim:fattree:2,4"

// withInput runs the program with a standard input.
func withInput(t *testing.T, in *os.File, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &said
	_ = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%q: %v", args, ctx.Err())
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

var timeOfDay = regexp.MustCompile(`[0-2][0-9]:[0-5][0-9]:[0-5][0-9]`)

// untimed returns a result without times of day, which differ from run to run.
func untimed(r result) result {
	return result{r.status, timeOfDay.ReplaceAllString(r.out, "TIME"), timeOfDay.ReplaceAllString(r.err, "TIME")}
}

// pipeOf returns the reading end of a pipe that contains a text, which must fit into it. If held is set, the pipe stays
// open until the end of the test.
func pipeOf(t *testing.T, text string, heldOpen bool) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	if _, err := write.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if !heldOpen {
		_ = write.Close()
	}
	return read
}

// opened returns a file that holds a text, at its beginning.
func opened(t *testing.T, text string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestCommandsRunInOrder checks that several -c are one script: one -c with the same commands has the same output,
// errors and status.
func TestCommandsRunInOrder(t *testing.T) {
	for _, texts := range [][]string{
		{"fail switch spine-02", "whatif; show links of=live", "check reach"},
		{"fail switch spine-02", "check reach", "summary"},
		{"summary", "show\nlinks", "show"},
		{"summary", "show links\n", "show 'links"},
		{"summary", `show links \`, "summary"},
		{"", "# nothing", "summary"},
	} {
		args := []string{"-s", inputSubnet}
		for _, text := range texts {
			args = append(args, "-c", text)
		}
		separate, joined := try(args...), try("-s", inputSubnet, "-c", strings.Join(texts, "\n"))
		if strings.HasSuffix(texts[1], `\`) { // continued on the next line, but not in the next -c
			joined = result{exitUsage, "", "ibconsole: -c:2: nothing follows the backslash\n"}
		}
		if untimed(separate) != untimed(joined) {
			t.Errorf("%q: %+v, together %+v", texts, separate, joined)
		}
	}
}

// TestStandardInputIsAScript checks that the program without a command runs its standard input, and prints the summary
// if that is empty.
func TestStandardInputIsAScript(t *testing.T) {
	const script = "fail switch spine-02; whatif\nshow links of=whatif\n"
	ran, summary := try("-s", inputSubnet, "-c", script), try("-s", inputSubnet, "-c", "summary")
	topology := filepath.Join(t.TempDir(), "topology")
	ibconsole(t, "-s", inputSubnet, "-c", "dump topology "+topology)
	text, err := os.ReadFile(topology)
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	for name, c := range map[string]struct {
		in   *os.File
		args []string
		want result
	}{
		"pipe":            {pipeOf(t, script, false), nil, ran},
		"pipe, held open": {pipeOf(t, script+"exit\n", true), nil, ran},
		"file":            {opened(t, script), nil, ran},
		"empty pipe":      {pipeOf(t, "", false), nil, summary},
		"empty file":      {opened(t, ""), nil, summary},
		"null":            {null, nil, summary},
		"the source": {
			opened(t, string(text)), []string{"-s", "file:/dev/stdin"}, result{0, "file:/dev/stdin", ""},
		},
		"the piped source": {
			pipeOf(t, string(text), false), []string{"-s", "file:/dev/stdin"}, result{0, "file:/dev/stdin", ""},
		},
	} {
		if c.args == nil {
			c.args = []string{"-s", inputSubnet}
		}
		got := withInput(t, c.in, c.args...)
		if untimed(got) != untimed(c.want) && (c.args[1] == inputSubnet || got.status != 0 ||
			!strings.Contains(got.out, c.want.out)) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	silent := withInput(t, pipeOf(t, "", true), "-s", inputSubnet)
	if silent.out != summary.out || silent.status != exitDone || !strings.Contains(silent.err, "run -") {
		t.Errorf("a pipe without a byte: %+v", silent)
	}
}

// TestStandardInputIsChecked checks that a script on standard input is checked before it runs, like a file, and that
// its errors have line numbers.
func TestStandardInputIsChecked(t *testing.T) {
	for _, script := range []string{
		"summary\nfoo\nfail switch spine-02\n", "summary\nshow links of=live nothing=1",
		"whatif; whatif\ncheck raech\n", "summary\nshow 'links\n",
	} {
		file := opened(t, script)
		want := try("-s", inputSubnet, "run", file.Name())
		want.err = strings.ReplaceAll(want.err, file.Name(), "stdin")
		if want.status != exitUsage || want.out != "" || !strings.Contains(want.err, "stdin:2: ") {
			t.Errorf("%q in a file: %+v", script, want)
		}
		for name, in := range map[string]*os.File{
			"pipe": pipeOf(t, script, false), "file": file, "open pipe": pipeOf(t, script+"exit\n", true),
		} {
			for _, args := range [][]string{{"run", "-"}, nil} {
				if strings.Contains(script, "'") && name == "open pipe" || name == "file" && args == nil {
					continue // the quote may still be closed; a file is complete
				}
				if got := withInput(t, in, append([]string{"-s", inputSubnet}, args...)...); got != want {
					t.Errorf("%q, %s, %q: %+v, want %+v", script, name, args, got, want)
				}
				if name == "pipe" || name == "open pipe" {
					break // the first run read it
				}
			}
		}
	}
}

// TestStandardInputIsLeft checks that the program does not read standard input without need, so that the next program
// can.
func TestStandardInputIsLeft(t *testing.T) {
	const text = "first\nsecond\n"
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("summary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-c", "summary"}, {"-c", "summary", "-c", "check reach"}, {"-c", ""}, {"run", script}, {"doctor"}, {"version"},
		{"help"}, {"man"}, {"__complete", ""},
	} {
		for _, in := range []*os.File{pipeOf(t, text, false), opened(t, text)} {
			withInput(t, in, append([]string{"-s", inputSubnet}, args...)...)
			if left, err := io.ReadAll(in); string(left) != text || err != nil {
				t.Errorf("%q leaves %q, %v", args, left, err)
			}
		}
	}
}

// TestSignalsBetweenCommands checks that a script of quick commands stops at the next command, and reports how many it
// did not run.
func TestSignalsBetweenCommands(t *testing.T) {
	const total = 200_000
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte(strings.Repeat("whatif\n", total)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, signal := range signals {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, program, "-s", inputSubnet, "--json", "run", script)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = write, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = write.Close()
		first := make([]byte, 1)
		if _, err := io.ReadFull(read, first); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(read)
		_ = cmd.Wait()
		cancel()
		_ = read.Close()
		if status := cmd.ProcessState.ExitCode(); err != nil || status != exitSignal+int(signal) {
			t.Errorf("%v: %v, exit status %d", signal, err, status)
		}
		left := regexp.MustCompile(`([\d,]+) commands not run`).FindStringSubmatch(said.String())
		if want := fmt.Sprint(total - bytes.Count(out, []byte(`"kind":"answer"`))); left == nil ||
			strings.ReplaceAll(left[1], ",", "") != want {
			t.Errorf("%v: %s commands were not run, it prints %.300s", signal, want, said.String())
		}
	}
}

// TestSignalsWhileItWaits checks that the first signal ends a script that waits for more standard input.
func TestSignalsWhileItWaits(t *testing.T) {
	for _, args := range [][]string{{"run", "-"}, nil} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			cmd := exec.CommandContext(ctx, program, append([]string{"-s", inputSubnet}, args...)...)
			var said bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = pipeOf(t, "summary\n", true), write, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = write.Close()
			if _, err := io.ReadFull(read, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, read)
			_ = cmd.Wait()
			cancel()
			_ = read.Close()
			if status := cmd.ProcessState.ExitCode(); status != exitSignal+int(signal) {
				t.Errorf("%q, %v: exit status %d, %s", args, signal, status, said.String())
			}
		}
	}
}
