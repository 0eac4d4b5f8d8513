// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/exporter-toolkit/web"
)

// Path is the path of the URL at which a [Server] serves the metrics.
const Path = "/metrics"

// ErrBusy is returned by a [Source] that cannot answer at the moment. The server responds with status 503.
var ErrBusy = errors.New("busy")

// Source writes the metrics to the writer that begin returns. If open is set, it writes OpenMetrics. The server turns
// an error before the call of begin into an HTTP status. After a later error, it closes the connection. The context
// ends when the client disconnects or the server is closed.
type Source func(ctx context.Context, open bool, begin func() io.Writer) error

// Server serves metrics over HTTP.
type Server struct {
	http   *http.Server
	cancel context.CancelFunc
	ended  chan struct{}
}

const (
	requestLimit  = 5 * time.Second // time limit for reading a request, and for an idle connection
	responseLimit = time.Minute     // time limit for sending a response
	maxHeader     = 8 << 10         // limit of the header of a request in bytes
)

// Serve serves metrics on a listener until Close, which also closes the listener. The argument file is that of
// [Access].
func Serve(l net.Listener, file string, source Source) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, gzhttp.GzipHandler(handler(source)))
	s := &Server{cancel: cancel, ended: make(chan struct{}), http: &http.Server{
		Handler: mux, ReadTimeout: requestLimit, WriteTimeout: responseLimit, IdleTimeout: requestLimit,
		MaxHeaderBytes: maxHeader,
		BaseContext:    func(net.Listener) context.Context { return ctx },
		ErrorLog:       log.New(io.Discard, "", 0),
	}}
	go func() {
		defer close(s.ended)
		// It returns when Close is called. The file was validated.
		_ = web.Serve(l, s.http, &web.FlagConfig{WebConfigFile: &file}, slog.New(slog.DiscardHandler))
	}()
	return s
}

// Close stops the server immediately and aborts responses in progress.
func (s *Server) Close() error {
	s.cancel()
	err := s.http.Close()
	<-s.ended
	return err
}

func handler(source Source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		open := strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text")
		begun := false
		begin := func() io.Writer {
			begun = true
			w.Header().Set("Content-Type", contentType(open))
			return w
		}
		err := source(r.Context(), open, begin)
		switch {
		case err == nil:
		case begun:
			panic(http.ErrAbortHandler) // so that the client detects the incomplete response
		case errors.Is(err, ErrBusy):
			http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		default:
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}
	}
}

func contentType(open bool) string {
	if open {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}
