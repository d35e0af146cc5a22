# The program alone: no shell, no packages, no root. From a checkout, for this machine:
#
#   docker build -t earshot .
#
# The workflow of a release builds it for linux/amd64 and linux/arm64; docs/install.md says how to run it.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION COMMIT DATE
RUN mkdir -p /out/empty && CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags="-s -w -X main.version=$VERSION -X main.commit=$COMMIT -X main.date=$DATE" -o /out/earshot ./cmd/earshot

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/earshot /usr/bin/
COPY --from=build --chown=65532:65532 /out/empty /tmp
COPY --from=build --chown=65532:65532 /out/empty /var/lib/earshot
ENV EARSHOT_DB=/var/lib/earshot/earshot.db EARSHOT_HEALTH=:9464 HOME=/var/lib/earshot PATH=/usr/bin
USER 65532:65532
WORKDIR /var/lib/earshot
VOLUME /var/lib/earshot
EXPOSE 7301 9464
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["/usr/bin/earshot", "health"]
ENTRYPOINT ["/usr/bin/earshot"]
CMD ["sidecar", "--listen", ":7301"]
