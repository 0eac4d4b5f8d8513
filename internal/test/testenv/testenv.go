// SPDX-License-Identifier: Apache-2.0

// Package testenv gives tests what they need from the machine: Debian's InfiniBand tools, the shared fabrics, and the
// setting that runs large tests in full. Only tests use this package.
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

// noHome is a home directory in which nothing exists and nothing can be created, not even by root.
const noHome = "/proc/no-home"

// foreign are the prefixes of environment variables that could bring settings of the user or the machine into a test.
var foreign = []string{"XDG_", "OSM_", "IBSIM_", "SIM_HOST", "IBCONSOLE_SOURCE", "NO_COLOR", "SLURM_"}

// init removes the user's home directory and the variables with the prefixes in foreign from the environment of the
// test. A test sets the variables that it needs. The Go tools keep their folders. A test program that a test starts
// gets its environment from that test.
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
	// sharedVar is the variable with the path of the folder of fabrics and tools that are not part of the sources.
	sharedVar = "IBCONSOLE_SHARED"
	// fullVar is 1 to run large test matrices in full instead of samples.
	fullVar = "IBCONSOLE_FULL"
	// seedVar is the seed of the random choices. It repeats the choices of an earlier run.
	seedVar = "IBCONSOLE_SEED"
	// storyVar is the duration of a story test, such as 5m, instead of the default.
	storyVar = "IBCONSOLE_STORY"
	// openSMVar is the path of an OpenSM to use instead of the installed one, see scripts/build-opensm.
	openSMVar = "IBCONSOLE_OPENSM"
	// ciVar is true if a missing tool fails a test instead of skipping it.
	ciVar = "CI"
)

// Shared returns the folder of shared fabrics and tools. It skips the test if IBCONSOLE_SHARED is not set, and fails
// the test if the folder does not exist.
func Shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(sharedVar)
	if dir == "" {
		t.Skip(sharedVar + " is not set: the shared fabrics are not available")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatalf("%s=%s is not a folder", sharedVar, dir)
	}
	return dir
}

// SharedFile returns the path of a file below [Shared], or skips the test if the file does not exist.
func SharedFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Shared(t), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s has no %s", sharedVar, name)
	}
	return path
}

// Tool returns the path of a program in PATH or the system's sbin folders. If the program is missing, Tool skips the
// test, or fails it with CI=true. With -short it always skips the test.
// IBCONSOLE_OPENSM=FILE replaces opensm.
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

// ToolVersion is [Tool] for a test whose expected output is that of one version of a program. ToolVersion runs the
// program with args. It skips the test, even with CI=true, unless the program prints a line "NAME VERSION".
func ToolVersion(t testing.TB, name, version string, args ...string) string {
	t.Helper()
	path := Tool(t, name)
	// Programs that print a usage text exit with a failure status, so only the output is checked.
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		// Programs print the name under which they were called, which may be a path.
		words := strings.Fields(line)
		if len(words) == 2 && filepath.Base(words[0]) == name && words[1] == version {
			return path
		}
	}
	t.Skipf("%s is not version %s (%v), and other versions give other bytes: %s", path, version, err, out)
	return ""
}

func find(name string) (string, error) {
	if other := os.Getenv(openSMVar); other != "" && name == "opensm" {
		return exec.LookPath(other)
	}
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

// Count returns the number of cases of a large matrix to run: full if [Full] is true, otherwise sample. It logs if only
// a sample runs.
func Count(t testing.TB, sample, full int) int {
	t.Helper()
	if Full() {
		return full
	}
	t.Logf("a sample of %d out of %d (%s=1 runs all)", sample, full, fullVar)
	return sample
}

// Length returns the duration of a story test: IBCONSOLE_STORY if set, full if [Full] is true, otherwise sample.
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

const sampleSeed = "1" // fixed, so that all runs of a sample use the same cases

// Rand returns a random source for one test and logs its seed. The seed is IBCONSOLE_SEED if set. Otherwise it differs
// in each run if [Full] is true, and is always the same if not.
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

// AcceptHangups makes SIGHUP end the programs that tests start, even if the tests themselves run under nohup and ignore
// SIGHUP. A program inherits an ignored signal, but not a caught one, so the tests catch it.
func AcceptHangups() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}

// Held counts resources that the test process holds and that a test could forget to release.
type Held struct {
	Descriptors, Goroutines int
	Heap                    uint64 // bytes in use after a garbage collection
}

// Resources returns the resources that the test process holds now.
func Resources(t testing.TB) Held {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("cannot count descriptors: %v", err)
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return Held{Descriptors: len(files), Goroutines: runtime.NumGoroutine(), Heap: mem.HeapAlloc}
}

// heapSlack is how much the heap may grow: more than pools need, but less than a leak over many rounds.
const heapSlack = 4 << 20

const endLimit = 30 * time.Second // how long goroutines may take to end

// CheckReleased fails the test if the process holds more resources than h.
func (h Held) CheckReleased(t testing.TB) {
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
