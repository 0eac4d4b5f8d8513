// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

const sigABRT = syscall.SIGABRT

// forms are the forms of a key, in lower case if it is text: digits of every base, also signed, and bytes of both
// orders as they are, as hexadecimal digits with possible separators, as a list of numbers and in base 64.
func forms(key uint64) (text, raw [][]byte) {
	for base := 2; base <= 36; base++ {
		text = append(text, strconv.AppendUint(nil, key, base), strconv.AppendInt(nil, -int64(key), base))
	}
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		b := order.AppendUint64(nil, key)
		raw = append(raw, b, []byte(base64.StdEncoding.EncodeToString(b)[:10]),
			[]byte(base64.URLEncoding.EncodeToString(b)[:10]))
		for _, format := range []string{"%x", "% x", "%d"} {
			text = append(text, fmt.Appendf(nil, format, b))
		}
		text = append(text, []byte(strings.ReplaceAll(fmt.Sprintf("% x", b), " ", ":")),
			[]byte(strings.ReplaceAll(fmt.Sprint(b), " ", ",")))
		text = append(text, fmt.Appendf(nil, "%x:%x:%x:%x", b[:2], b[2:4], b[4:6], b[6:]))
	}
	return text, raw
}

var keyForms = sync.OnceValue(func() (all [2][][]byte) {
	for _, key := range []uint64{theMKey, theSMKey, theSAKey} {
		text, raw := forms(key)
		all[0], all[1] = append(all[0], text...), append(all[1], raw...)
	}
	return all
})

// findKey returns the form of a key in b, nil for none.
func findKey(b []byte) []byte {
	small := bytes.ToLower(b)
	for i, of := range [][]byte{small, b} {
		for _, form := range keyForms()[i] {
			if bytes.Contains(of, form) {
				return form
			}
		}
	}
	return nil
}

func expectNoKey(t *testing.T, what string, b []byte) {
	t.Helper()
	if form := findKey(b); form != nil {
		t.Errorf("%s holds a key as %q", what, form)
	}
}

// TestFindKey checks that the search of the other tests finds keys.
func TestFindKey(t *testing.T) {
	for _, text := range []string{
		"M_Key 0x0123456789ABCDEF", "key=81985529216486895", "\x00\xef\xcd\xab\x89\x67\x45\x23\x01",
		"0x1f2e3d4c5b6a7988,", "99:aa:bb:cc:dd:ee:ff:01", "ASNFZ4mrze8=",
		fmt.Sprintf("%v", binary.BigEndian.AppendUint64(nil, theSAKey)),
		fmt.Sprintf("%+v", struct{ Key uint64 }{theSMKey}), fmt.Sprintf("%b", uint64(theMKey)),
	} {
		if findKey([]byte(text)) == nil {
			t.Errorf("no key is found in %q", text)
		}
	}
	if form := findKey([]byte("0x0000000000100001 0x1 123456789")); form != nil {
		t.Errorf("%q is found where no key is", form)
	}
}

// frames returns the content of the zstd frames in a file.
func frames(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			panic(err)
		}
		defer unpack.Close()
		for magic := []byte{0x28, 0xb5, 0x2f, 0xfd}; ; b = b[1:] {
			at := bytes.Index(b, magic)
			if at < 0 {
				return
			}
			b = b[at:]
			// Trailing data is an error, but the preceding content is returned.
			if out, _ := unpack.DecodeAll(b, nil); len(out) > 0 && !yield(out) {
				return
			}
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// waiting is an output that tests wait for.
type waiting struct {
	until []byte
	come  chan struct{}
	all   []byte
	once  sync.Once
}

func (w *waiting) Write(b []byte) (int, error) {
	if w.all = append(w.all, b...); bytes.Contains(w.all, w.until) {
		w.once.Do(func() { close(w.come) })
	}
	return len(b), nil
}

// dumped reports whether the kernel wrote a core dump of a program.
func dumped(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.CoreDump()
}

// TestMemoryIsClosed checks that with a key the memory of the program is closed to all users including its own, while
// without one the kernel allows access. It can open its own descriptors in any case.
func TestMemoryIsClosed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run programs as another user")
	}
	const user = 65534
	dir, err := os.MkdirTemp("", "ibconsole-user")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	keys, copied := filepath.Join(dir, "keys"), filepath.Join(dir, "program")
	if err := errors.Join(os.WriteFile(keys, []byte("0x0123456789abcdef\n"), 0o600),
		os.WriteFile(copied, mustRead(t, program), 0o755), os.Chown(keys, user, user),
		os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	as := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = "/", append(os.Environ(), "XDG_STATE_HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		return cmd
	}
	for _, key := range []bool{false, true} {
		args := []string{copied, "-s", "sim:fattree:2,4", "run", "-"}
		if key {
			args = append(args, "--mkeys", keys)
		}
		cmd := as(args...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		said := &waiting{until: []byte("subnet"), come: make(chan struct{})}
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = in.Write([]byte("summary\n"))
		select {
		case <-said.come:
		case <-time.After(time.Minute):
			t.Fatalf("it never prints the summary: %s", said.all)
		}
		for _, name := range []string{"maps", "mem", "environ", "auxv"} {
			file := fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, name)
			out, err := as("sh", "-c", ": <"+file).CombinedOutput()
			if open := err == nil; open == key {
				t.Errorf("with a key %v: %s: %v, %s", key, name, err, out)
			}
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("with a key %v: %v, %s", key, err, said.all)
		}
	}
	script := copied + " -s sim:fattree:2,4 --mkeys <(cat " + keys + ") -c 'names '<(echo 0x200000 renamed)'; show " +
		"switches'"
	if out, err := as("bash", "-c", script).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("renamed")) {
		t.Errorf("%v, %s", err, out)
	}
}
