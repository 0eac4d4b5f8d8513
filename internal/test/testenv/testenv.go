// SPDX-License-Identifier: Apache-2.0

// Package testenv tells a test what the machine it runs on offers: Debian's InfiniBand tools, the shared
// fabrics, the time for full counts. It is for tests only.
package testenv

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// noHome is a home in which nothing is and nothing can be made, not even by root.
const noHome = "/proc/no-home"

// foreign are the variables, by the beginnings of their names, by which programs find what belongs to the user or to
// this machine.
var foreign = []string{"XDG_", "OSM_", "IBSIM_", "SIM_HOST", "IBCONSOLE_SOURCE", "NO_COLOR", "SLURM_"}

// init takes the user's home and such variables from tests and the programs that they start: a test sets what it wants.
// What compiles keeps its folders. A test's program that a test starts has what that gave it.
func init() {
	home := os.Getenv("HOME")
	if home == noHome {
		return
	}
	cache, _ := os.UserCacheDir()
	config, _ := os.UserConfigDir()
	env := map[string]string{"HOME": noHome, "XDG_CACHE_HOME": cache}
	for name, path := range map[string]string{
		"GOCACHE": filepath.Join(cache, "go-build"), "GOPATH": filepath.Join(home, "go"),
		"GOENV": filepath.Join(config, "go", "env"),
	} {
		if home != "" && os.Getenv(name) == "" {
			env[name] = path
		}
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(foreign, func(f string) bool { return strings.HasPrefix(name, f) }) {
			_ = os.Unsetenv(name)
		}
	}
	for name, value := range env {
		_ = os.Setenv(name, value)
	}
}

// The variables that the tests read.
const (
	// sharedVar names the folder that holds fabrics and tools which are no part of the sources.
	sharedVar = "IBCONSOLE_SHARED"
	// fullVar is 1 where large matrices run in full instead of as samples.
	fullVar = "IBCONSOLE_FULL"
	// seedVar replays the random choices of an earlier run.
	seedVar = "IBCONSOLE_SEED"
	// storyVar is how long a story goes on, such as 5m, whatever it would be else.
	storyVar = "IBCONSOLE_STORY"
	// ciVar is true where a missing tool is a failure and no reason to skip.
	ciVar = "CI"
)

// Shared returns the folder of shared fabrics and tools, or skips the test
// where IBCONSOLE_SHARED is unset. A folder that is named but missing is fatal.
func Shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(sharedVar)
	if dir == "" {
		t.Skip(sharedVar + " is not set: the shared fabrics are not at hand")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatalf("%s=%s is no folder", sharedVar, dir)
	}
	return dir
}

// SharedFile returns the path of a file below [Shared], or skips the test where there is no such file.
func SharedFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Shared(t), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s has no %s", sharedVar, name)
	}
	return path
}

// Tool returns the path of a program, looked for in PATH and in the system's sbin folders. Where it is
// missing the test is skipped, and fails with CI=true. With -short it is skipped in any case.
func Tool(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s: -short runs no other programs", name)
	}
	path, err := find(name)
	if err != nil {
		if os.Getenv(ciVar) == "true" {
			t.Fatalf("%v (%s=true, so this is a failure)", err, ciVar)
		}
		t.Skipf("%v: `make test` installs it on Debian", err)
	}
	return path
}

// ToolVersion is [Tool] for a test whose expected bytes are those of one
// version of a program: the test is skipped where the program, run with args,
// does not print a line "NAME VERSION". With CI=true too: it is not missing.
func ToolVersion(t testing.TB, name, version string, args ...string) string {
	t.Helper()
	path := Tool(t, name)
	// Usage texts come with a failure status, so only what is printed counts.
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		// Programs name themselves as they were called.
		words := strings.Fields(line)
		if len(words) == 2 && filepath.Base(words[0]) == name && words[1] == version {
			return path
		}
	}
	t.Skipf("%s is not version %s (%v), and another gives other bytes: %s", path, version, err, out)
	return ""
}

func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}

// Full reports whether large matrices are to run in full (IBCONSOLE_FULL=1, as `make acceptance` sets it).
func Full() bool { return os.Getenv(fullVar) == "1" }

// Count is how many cases of a large matrix to run: full where [Full], else sample. It logs which it is.
func Count(t testing.TB, sample, full int) int {
	t.Helper()
	if Full() {
		return full
	}
	t.Logf("a sample of %d out of %d (%s=1 runs all)", sample, full, fullVar)
	return sample
}

// Length is how long a story goes on: IBCONSOLE_STORY where that is set, else full where [Full], else sample.
func Length(t testing.TB, sample, full time.Duration) time.Duration {
	t.Helper()
	if text := os.Getenv(storyVar); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", storyVar, err)
		}
		return d
	}
	if Full() {
		return full
	}
	t.Logf("%v out of %v (%s=1, or %s=%v)", sample, full, fullVar, storyVar, full)
	return sample
}

const sampleSeed = "1" // the seed of samples, so that a change is judged by the same cases as the one before

// Rand returns a random source for one test. Its seed is logged: IBCONSOLE_SEED=N
// where that is set, another one with each run where [Full], else always the same.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	text := sampleSeed
	if Full() {
		text = strconv.FormatInt(time.Now().UnixNano(), 10)
	}
	text = cmp.Or(os.Getenv(seedVar), text)
	seed, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatalf("%s=%s: expected a number", seedVar, text)
	}
	t.Logf("replay with %s=%d", seedVar, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// HeedHangups lets the programs that tests start be ended by SIGHUP where the tests were started to ignore
// it, as nohup does: a signal that is caught is one with its default in a program that is started.
func HeedHangups() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}

// Held are the things that a program can forget to give back.
type Held struct {
	Descriptors, Goroutines int
	Heap                    uint64 // the number of bytes in use after a garbage collection
}

// Resources counts what the test's process holds now.
func Resources(t testing.TB) Held {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("descriptors cannot be counted: %v", err)
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return Held{Descriptors: len(files), Goroutines: runtime.NumGoroutine(), Heap: mem.HeapAlloc}
}

// heapSlack is by how much the heap may have grown: more than what is pooled, less than a leak of many rounds.
const heapSlack = 4 << 20

const endLimit = 30 * time.Second // how long goroutines may take to end

// Same fails the test if more is held now than then.
func (h Held) Same(t testing.TB) {
	t.Helper()
	now := Resources(t)
	for begun := time.Now(); time.Since(begun) < endLimit; {
		if now.Goroutines <= h.Goroutines && now.Descriptors <= h.Descriptors {
			break
		}
		time.Sleep(10 * time.Millisecond)
		now = Resources(t)
	}
	if now.Descriptors > h.Descriptors || now.Goroutines > h.Goroutines || now.Heap > h.Heap+heapSlack {
		t.Errorf("held before %+v, now %+v", h, now)
	}
}
